"""Serving HTTP: the listening socket, who may ask, how much, and how a request is read."""
