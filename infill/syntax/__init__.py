"""Reads source text: syntax trees within bounds, and lines, brackets, blocks and indentation.

``parse.parse`` returns a ``Syntax``, or None for a text that is treated as plain text.
"""
