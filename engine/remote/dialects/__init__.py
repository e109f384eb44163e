"""How each kind of server is asked for tokens, and how it sends them: one module each."""
