"""TODO docstring of engine/errors.py."""


class ModelError(Exception):
    """A model cannot be found, read or held. The message is one line: what, and what to do."""


class Cancelled(Exception):
    """The fill was cancelled between two denoising steps."""
