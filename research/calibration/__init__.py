"""Fits how probable it is that a user keeps a suggestion, and measures it on held-out holes."""
