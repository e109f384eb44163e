"""What commands share about the terminal: consoles, safe text, and termination.

Results go to standard output (``output``), everything else to standard error (``notices``).
"""

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.table import Table

_PIPE_WIDTH = 120


def output() -> Console:
    """Return a console for results."""
    return _console(sys.stdout)


def notices() -> Console:
    """Return a console for progress, live views and errors."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() else _PIPE_WIDTH
    return _PipeConsole(file=stream, width=width, highlight=False, emoji=False, markup=False)


class _PipeConsole(Console):
    """A console that leaves a closed pipe to the caller."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def two_columns(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a table of names and values."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    return table


_TAB = "    "
_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32)} | {0x7F: 0x2421}
_C1_CONTROLS = dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}")
# Right-to-left and invisible marks could make a line look like another one.
_DIRECTION_MARKS = dict.fromkeys(
    [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)],
    "\N{REPLACEMENT CHARACTER}",
)
_SHOWN = _CONTROL_PICTURES | _C1_CONTROLS | _DIRECTION_MARKS | {0x09: _TAB, 0x0A: "\n"}


def displayable(text: str) -> str:
    """Return the text with LF line ends and a visible sign for every control character."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_SHOWN)


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block when the process gets SIGTERM."""
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
