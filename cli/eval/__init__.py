"""``intarsia eval``: fill holes whose text is known, and report figures."""
