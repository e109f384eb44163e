"""How model passes become the text of a hole: speculative, by entropy, by rewriting."""
