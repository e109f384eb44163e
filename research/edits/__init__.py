"""Edits of real commits: what further lines of a file had to change with them.

Knows neither where cases come from nor what is done with them.
"""
