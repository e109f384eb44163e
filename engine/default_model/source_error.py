"""What a source of bytes raises when it cannot give them: the next source is then tried."""


class SourceError(Exception):
    """The message says in a few words what was tried and how it failed."""
