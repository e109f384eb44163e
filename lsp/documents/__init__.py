"""Open documents as frozen values: text, positions, and which of them may be completed."""
