"""``intarsia api``: an OpenAI-compatible completions API on this machine only."""
