"""How many suggestions were shown, accepted and kept, on this machine: counts, and no text."""
