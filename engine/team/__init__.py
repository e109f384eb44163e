"""Serve one loaded model to a team over HTTP: keys, quotas, and contexts of each user's own."""
