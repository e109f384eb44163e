"""The user's cache folder, locks for its writers, seals, and progress of long work."""
