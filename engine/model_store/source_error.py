"""The error of one source of model files; the next source is tried then."""


class SourceError(Exception):
    """A source could not give a file. The message says what was tried and how it failed."""
