"""The process that keeps the index and chooses context, and its client."""
