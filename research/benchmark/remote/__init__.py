"""Fills through a server of the user's: what our side adds, and what the server reads."""
