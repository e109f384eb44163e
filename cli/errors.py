"""Exit codes, and how every exception becomes one line for the user and an exit code.

A message says what happened and what to do.
"""

from enum import IntEnum

import click

from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.ipc.errors import EngineError, FillFailed


class ExitCode(IntEnum):
    OK = 0
    NOTHING = 1
    BAD_INPUT = 2
    ENGINE = 3
    MODEL = 4
    NOT_WRITTEN = 5
    INTERNAL = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


MEANINGS: dict[ExitCode, str] = {
    ExitCode.OK: "done",
    ExitCode.NOTHING: "no suggestion, or a problem was found (doctor)",
    ExitCode.BAD_INPUT: "wrong usage, or an unusable file or position",
    ExitCode.ENGINE: "the engine is not running, or cannot be started or reached",
    ExitCode.MODEL: "the model cannot be found, downloaded, read or held in memory",
    ExitCode.NOT_WRITTEN: "the file could not be written; it is unchanged",
    ExitCode.INTERNAL: "an error in intarsia itself",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C)",
    ExitCode.PIPE_CLOSED: "the reader of the output closed it",
}


_FAILURE_CODES: dict[str, ExitCode] = {
    "bad_request": ExitCode.BAD_INPUT,
    "cancelled": ExitCode.ENGINE,  # because the engine ends: our own cancelling is an interrupt
    "model": ExitCode.MODEL,
    "out_of_memory": ExitCode.MODEL,
    "unavailable": ExitCode.ENGINE,
    "busy": ExitCode.ENGINE,
    "internal": ExitCode.ENGINE,
}


class CliError(Exception):
    """A command cannot continue. The message is one line: what happened, and what to do."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


def as_fault(error: Exception) -> CliError:
    """Return the one line and the exit code for any exception of a command."""
    match error:
        case CliError():
            return error
        case click.Abort():
            return CliError("interrupted", ExitCode.INTERRUPTED)
        case click.UsageError():
            return _usage_fault(error)
        case FillFailed():
            return one_line(str(error), _FAILURE_CODES.get(error.code, ExitCode.ENGINE))
        case EngineError():
            return one_line(str(error), ExitCode.ENGINE)
        case RemoteError():
            return one_line(str(error), _FAILURE_CODES[error.code])
        case ModelError():
            return one_line(str(error), ExitCode.MODEL)
        case OSError():
            return one_line(f"{error}; correct that and try again", ExitCode.INTERNAL)
    return one_line(
        f"unexpected {type(error).__name__}: {error}; run with --debug and report the traceback",
        ExitCode.INTERNAL,
    )


def one_line(message: str, code: ExitCode) -> CliError:
    """Return the fault with its message on one line."""
    return CliError(" ".join(message.split()), code)


def _usage_fault(error: click.UsageError) -> CliError:
    message = " ".join(error.format_message().split()).rstrip(".")
    what = message[:1].lower() + message[1:]
    if error.ctx is None:
        return CliError(what)
    return CliError(f"{what}; see `{error.ctx.command_path} --help`")
