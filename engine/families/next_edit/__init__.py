"""What all model families share to find next edits: lines, places and the example, as text."""
