"""One fill on a server that takes token ids: its context is laid out as for our own backbone."""
