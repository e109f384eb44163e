"""How forward passes become a hole's token ids: speculatively, or as a rewrite."""
