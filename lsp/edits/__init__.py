"""Inline edits: from arguments to a computed edit, and from there to a WorkspaceEdit."""
