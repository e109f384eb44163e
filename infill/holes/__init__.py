"""Which part of a text is to be filled: at a cursor, or everywhere in a file."""
