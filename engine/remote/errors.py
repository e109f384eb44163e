"""The one error of a remote engine: why a server gave no answer, and what the client gets."""

from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.messages import FailureCode


class RemoteError(ModelError):
    """A server gave no answer. The message is one line: what is wrong and what to do.

    ``code``: "unavailable" (gone, slow, unusable answers), "busy" (it has too much to do, and may
    be asked again in ``retry_after_s`` seconds), or "model" (settings, key, certificate, tokenizer:
    only the user can correct it). With ``falls_back`` the user wants the local model to answer
    instead.
    """

    def __init__(
        self,
        message: str,
        code: FailureCode = "unavailable",
        *,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code: FailureCode = code
        self.retry_after_s = retry_after_s
        self.falls_back = False
