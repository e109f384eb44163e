"""A user's editor on a real language server, and the files that are worked on in it."""
