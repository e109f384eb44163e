"""The model families, each a folder, and what they share: from a request to a hole's text."""
