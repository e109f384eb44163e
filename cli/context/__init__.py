"""``intarsia context``: show what the model would see at a place."""
