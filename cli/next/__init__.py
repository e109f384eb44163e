"""``intarsia next``: find what an edit has left to change."""
