"""Trains a tuning for a user's own code: files, holes, the training loop, the effect.

Knows no command line and no editor. ``research`` trains general weights with the same loop.
"""
