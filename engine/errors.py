"""The errors that any part of the engine may raise about a model or a fill."""


class ModelError(Exception):
    """A model cannot be found, read or loaded. The message is one line: what, and what to do."""


class NoRoomError(ModelError):
    """Memory or disk space is short. The next try may succeed, so the failure is not remembered."""


class Cancelled(Exception):
    """The fill was cancelled between two forward passes."""
