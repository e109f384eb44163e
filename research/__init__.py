"""Everything that measures and trains intarsia. Nothing here runs in an editor."""
