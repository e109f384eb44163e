"""Training holes: drawn from a corpus, encoded as a fill encodes them, packed into one file."""
