"""The exit codes of every command, and the words in which ``--help`` lists them."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command says to the shell."""

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
    ExitCode.BAD_INPUT: "wrong usage, or a file or position that cannot be used",
    ExitCode.ENGINE: "the engine is not running, or cannot be started or reached",
    ExitCode.MODEL: "the model cannot be found, fetched, read or held in memory",
    ExitCode.NOT_WRITTEN: "the file could not be written; it is as it was",
    ExitCode.INTERNAL: "a fault of intarsia itself",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C)",
    ExitCode.PIPE_CLOSED: "whoever read the output went away",
}
