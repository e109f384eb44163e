"""Send the engine's log to stderr, which is a terminal or a file of bounded size."""

import logging
import os
import stat
import sys
from typing import TextIO

from intarsia.engine.ipc.printable import printable

MAX_BYTES = 4 * 1024 * 1024
"""A log file that grows beyond this is emptied."""

_TERMINAL_FORMAT = "%(message)s"
_FILE_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class PrintableFormatter(logging.Formatter):
    """Shows what names and messages of others hold, instead of having a terminal obey it."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class BoundedHandler(logging.StreamHandler[TextIO]):
    """Writes to stderr; keeps a file there from filling the disk."""

    def emit(self, record: logging.LogRecord) -> None:
        _truncate_if_long(self.stream)
        super().emit(record)


def set_up_logging(*, foreground: bool) -> None:
    """Send this process's log records to stderr; ``foreground`` writes them for a terminal."""
    handler = BoundedHandler(sys.stderr)
    handler.setFormatter(PrintableFormatter(_TERMINAL_FORMAT if foreground else _FILE_FORMAT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)


def _truncate_if_long(stream: TextIO) -> None:
    try:
        status = os.fstat(stream.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size > MAX_BYTES:
            os.ftruncate(stream.fileno(), 0)
    except (OSError, ValueError):
        pass  # a stream without a file
