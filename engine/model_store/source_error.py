"""The error of a source of model files; another source is tried then."""


class SourceError(Exception):
    """The message says in a few words what was tried and how it failed."""
