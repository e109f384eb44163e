"""Measures how often the import that inserted code needs is found and written correctly."""
