"""Imports for inserted code: which names a file does not know, and where an import line goes.

Pure functions on text. Which module a name comes from is the project's index's to tell
(``workspace/imports``).
"""
