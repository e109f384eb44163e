"""``intarsia doctor``: check this installation. Each check returns a ``Finding``."""
