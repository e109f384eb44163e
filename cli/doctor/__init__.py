"""``intarsia doctor``: what works, what is missing, and what to do."""
