"""Cuts holes with known text out of good source code, for evaluation and training.

``cut_holes.cut_holes`` returns all holes of a text, by kind. To add a language, add one row to
``node_table.py``; its file in ``infill/languages`` has the language itself.
"""
