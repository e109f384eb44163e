"""``intarsia bench``: speed and memory, one file a section."""
