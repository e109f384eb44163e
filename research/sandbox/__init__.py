"""Runs programs that a model has written parts of, isolated and within limits."""
