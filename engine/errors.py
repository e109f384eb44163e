"""The errors that any part of the engine may raise about a model or a fill."""

from intarsia.engine.ipc.messages import FailureCode


class ModelError(Exception):
    """A model cannot be found, read or loaded. The message is one line: what, and what to do."""


class NoRoomError(ModelError):
    """Memory or disk space is short. The next try may succeed, so the failure is not remembered."""


class SourceError(Exception):
    """A source could not give a model's file. The message says what was tried and how it failed."""


class RemoteError(ModelError):
    """A server gave no answer. The message is one line: what is wrong and what to do.

    ``code``: "unavailable" (gone, slow, unusable answers), "busy" (it has too much to do, and may
    be asked again in ``retry_after_s`` seconds), or "model" (settings, key, certificate, tokenizer:
    only the user can correct it). ``is_cut_off``: the server ended before its answer did, so that
    another one at the same address may give it. With ``falls_back`` the user wants the local model
    to answer instead.
    """

    def __init__(
        self,
        message: str,
        code: FailureCode = "unavailable",
        *,
        retry_after_s: float | None = None,
        is_cut_off: bool = False,
    ) -> None:
        super().__init__(message)
        self.code: FailureCode = code
        self.retry_after_s = retry_after_s
        self.is_cut_off = is_cut_off
        self.falls_back = False


class Cancelled(Exception):
    """The fill was cancelled between two forward passes."""


class DeadlinePassed(Exception):
    """The fill's deadline passed before its next forward pass."""
