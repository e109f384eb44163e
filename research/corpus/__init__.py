"""What a model is trained on: source files of permissively licensed packages, and holes in them.

Files are data: nothing of a package is run or imported. Knows text, no tokens; imports infill only.
"""
