"""The command line as a test runs it: in this process, or as a process of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from click.testing import CliRunner, Result

from intarsia.cli.main import cli

COMMAND = (sys.executable, "-P", "-m", "intarsia.cli")


def run(*words: str | Path, stdin: str | bytes | None = None) -> Result:
    """Run a command here; the result has ``exit_code``, ``stdout`` and ``stderr``."""
    return CliRunner().invoke(cli, [str(word) for word in words], input=stdin)


def spawn(*words: str | Path, stdout: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    command = [*COMMAND, *(str(word) for word in words)]
    with _heeding_interrupts():
        return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE)


@contextmanager
def _heeding_interrupts() -> Iterator[None]:
    """Let children handle Ctrl-C even if this run ignores it, as background jobs do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
