"""Open documents as frozen values: text, positions, and whether a document gets suggestions."""
