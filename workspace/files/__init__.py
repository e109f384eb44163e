"""Which files of the opened folders may be read, and their text."""
