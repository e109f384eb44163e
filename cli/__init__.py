"""The command line: each command is one function that composes the parts."""
