"""The command line ``intarsia``: options in, the parts called, results printed.

``main`` has the table of commands. A command with several files has a folder; others have one file.
"""
