"""What can go wrong with a model or a fill: the errors that every part of the engine may raise."""


class ModelError(Exception):
    """A model cannot be found, read or held. The message is one line: what, and what to do."""


class Cancelled(Exception):
    """The fill was cancelled between two denoising steps."""
