"""Finds edits that change several places of a file in the histories of git repositories."""
