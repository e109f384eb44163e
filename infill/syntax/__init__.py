"""Reads source text: ``text`` without a parser, ``tree`` with one, within bounds.

``tree.parse`` returns a ``Syntax``, or None for a text that is treated as plain text.
"""
