"""Turn what went wrong in a fill or a load into the code and the line that the client gets."""

import errno

from intarsia.engine.errors import Cancelled, ModelError, RemoteError
from intarsia.engine.ipc.messages import FailureCode

_DEVICE_TEXTS = ("cuda error", "hip error", "cublas_status_", "cudnn_status_")
_OUT_OF_MEMORY_TEXTS = ("out of memory", "can't allocate memory", "cannot allocate memory")


class LoadFailure(Exception):
    """A model could not be loaded; ``code`` and the message are what the client gets."""

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def describe_failure(error: BaseException, *, doing: str) -> tuple[FailureCode, str]:
    """Return the failure's code and its message; ``doing`` is what was tried ("loading MODEL")."""
    match error:
        case Cancelled():
            return "cancelled", "cancelled"
        case LoadFailure():
            return error.code, str(error)
        case RemoteError():
            return error.code, one_line(error)
        case ModelError():
            return "model", one_line(error)
        case _ if is_out_of_memory(error):
            return "out_of_memory", (
                f"out of memory while {doing}: close other programs, or use a smaller model "
                "(--model) or a smaller cache (--cache-tokens)"
            )
        case _ if is_device_lost(error):
            return "internal", (
                f"the GPU failed while {doing}, so the engine ends: try again, which restarts "
                f"it ({one_line(error)})"
            )
        case ValueError():
            return "bad_request", one_line(error)
    return "internal", f"{type(error).__name__} while {doing}: {one_line(error)} (see the log)"


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out. Knows torch's errors by name and text, to not import torch."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(mark in text for mark in _OUT_OF_MEMORY_TEXTS)


def is_device_lost(error: BaseException) -> bool:
    """Return whether a GPU failed, by name and text, without torch: no call to it succeeds then."""
    if is_out_of_memory(error):
        return False
    if type(error).__name__ == "AcceleratorError":
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(mark in text for mark in _DEVICE_TEXTS)


def one_line(error: BaseException) -> str:
    """Return the error's text without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__
