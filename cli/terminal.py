"""The terminal, for all commands: consoles, sizes and the switch ``--json``.

Results go to standard output (``output``), everything else to standard error (``notices``).
"""

import sys
from collections.abc import Iterable
from typing import TextIO

import click
from rich.console import Console
from rich.table import Table

_PIPE_WIDTH = 120

json_option = click.option("--json", "as_json", is_flag=True, help="JSON, one object per line.")


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


def size(num_bytes: float) -> str:
    """Return ``1.2 GB``, ``491 MB`` or ``3 KB``."""
    if num_bytes >= 1e9:
        return f"{num_bytes / 1e9:.1f} GB"
    if num_bytes >= 1e6:
        return f"{num_bytes / 1e6:.0f} MB"
    return f"{num_bytes / 1e3:.0f} KB"


def duration(seconds: float) -> str:
    """Return ``45 s``, ``12 min`` or ``3.5 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
