"""Inline edits: from the command's arguments to filled holes to a WorkspaceEdit (``make_edit``)."""
