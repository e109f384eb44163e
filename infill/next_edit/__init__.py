"""Next edits, from two versions of a text to offers of the changes that the user's edit has left.

``settled_edit`` finds the edit, ``renaming`` offers the uses of a name that it renamed. Of other
edits ``plan`` cuts the window that the engine is shown, and ``offer`` asks for corrections, decides
which are worth showing, and turns these into replacements. Shared by lsp, cli and research. Knows
neither files nor LSP, and of the engine only its messages.
"""
