"""How forward passes become a hole's token ids: speculatively, by entropy, or as a rewrite."""
