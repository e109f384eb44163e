"""``eval``: fill holes with known text, and report figures."""
