"""Run the command line in a test: in the test's process, or in a new one."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from click.testing import CliRunner, Result

from intarsia.cli.command_table import cli

COMMAND = (sys.executable, "-P", "-m", "intarsia.cli")


def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
    """Run a command in this process; the result has ``exit_code``, ``stdout`` and ``stderr``."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)


def spawn(
    *arguments: str | Path,
    stdout: int | IO[bytes] = subprocess.PIPE,
    program: Sequence[str] = COMMAND,
) -> subprocess.Popen[bytes]:
    command = [*program, *(str(argument) for argument in arguments)]
    with _obeying_interrupts():
        return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE)


@contextmanager
def _obeying_interrupts() -> Iterator[None]:
    """Start processes that obey Ctrl-C, even if this one ignores it, as in a shell's background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
