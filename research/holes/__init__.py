"""Cuts holes with known text out of good source code, for evaluation and training."""
