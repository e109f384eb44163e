"""The opened folders: which files may be read, their symbols, and code worth showing.

A file with a hole uses names from other files. This package finds those files and names, keeps
them in an index, and chooses the passages that the model reads before the file. It runs in a
process of its own, at low priority. Knows neither LSP nor tokens.
"""
