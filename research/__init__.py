"""The measuring and the training of intarsia; nothing here runs in an editor."""
