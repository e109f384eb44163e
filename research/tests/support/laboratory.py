"""Run a command of the laboratory in a test: in the test's process, or in a new one."""

import subprocess
import sys
from pathlib import Path

import command_line
from click.testing import CliRunner, Result

from intarsia_research.commands.table import cli


def run(*arguments: str | Path) -> Result:
    """Run a command in this process; the result has ``exit_code``, ``stdout`` and ``stderr``."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def spawn(*arguments: str | Path) -> subprocess.Popen[bytes]:
    return command_line.spawn(*arguments, program=(sys.executable, "-m", "intarsia_research"))
