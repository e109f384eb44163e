"""From the text that a client sends to a hole of ours, and from the engine's fill to an answer."""
