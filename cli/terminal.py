"""Where a command writes: results on standard output, everything else on standard error."""

import sys
from typing import TextIO

from rich.console import Console

_PIPE_WIDTH = 120


class _PipeConsole(Console):
    """A console that lets a closed pipe be the caller's matter."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def output() -> Console:
    """Return a console for results."""
    return _console(sys.stdout)


def notices() -> Console:
    """Return a console for progress, live views and errors."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() else _PIPE_WIDTH
    return _PipeConsole(file=stream, width=width, highlight=False, emoji=False, markup=False)
