"""Measures repairs: good code is broken by one token, and repaired."""
