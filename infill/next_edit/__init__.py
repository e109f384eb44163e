"""What a user's edit has left to change: from two versions of a text to offers of further edits.

``settled_edit`` finds the edit, ``plan`` cuts the window around it that the engine is shown,
``show_rule`` decides which corrections are worth showing, ``offer`` turns these into replacements,
and ``find`` joins the steps. ``renaming`` knows an edit that is a rename. Shared by lsp, cli and
research. Knows neither files nor LSP, and of the engine only its messages.
"""
