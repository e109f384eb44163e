"""How many tokens a forward pass reads while other requests wait."""

SHORT_CHUNK = 32
"""Tokens of a chunk while other fills wait, or may come to wait, for its end.

In int8 such a chunk takes 50 ms, and the context a tenth longer than in chunks of 64.
"""
