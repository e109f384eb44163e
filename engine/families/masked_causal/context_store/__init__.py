"""Contexts that were read, kept on disk so that a restarted engine need not read them again.

``store.py`` finds, restores and keeps them. ``tensor_file.py`` is the format of a file,
``identity.py`` says for which weights and kernels the files are valid.
"""
