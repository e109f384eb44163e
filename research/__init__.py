"""How intarsia is measured and trained. Nothing here runs in an editor."""
