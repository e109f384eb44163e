"""Who fills cases: one file a way to ask."""
