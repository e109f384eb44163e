"""Models of others, and ways to use models that others published, run here for comparison."""
