"""The user's servers as settings: names, addresses, keys, and who may write their file."""
