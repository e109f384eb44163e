"""``intarsia fill``: fill holes of a file from the command line."""
