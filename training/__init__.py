"""Trains a tuning for a user's own code: files, holes, the loop, the effect. Knows no editor."""
