"""Finds the import that a name needs: from how the project's files import and define that name."""
