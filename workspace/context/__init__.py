"""Chooses the passages of other files that the model reads before a hole."""
