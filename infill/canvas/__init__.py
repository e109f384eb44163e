"""From a hole to the canvas that the model sees: prefix, suffix, and where the hole ends."""
