"""Turns the text that a model wrote for a hole into a suggestion: ``clean.clean``."""
