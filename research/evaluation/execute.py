"""Runs a program that a model has written parts of: shut off from all else, and within limits.

Comes in: the program's text, needing the standard library alone; goes out: whether it ran to its
end. Knows nothing of fills. How a program is shut off stands in isolation.py.
"""

import math
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.isolation import Isolation, isolations

TIME_LIMIT_S = 10.0

_MEMORY_BYTES = 1024**3
_FILE_BYTES = 16 * 1024**2
_REACHED_END = 87
"""What the last line exits with: a fill that ends the program early has not passed."""

# The program comes by stdin, so that no folder need be shown to it; it meets none of these names.
_BOOTSTRAP = f"""
def _program():
    import resource, sys
    limits = [
        ("RLIMIT_CPU", int(sys.argv.pop())), ("RLIMIT_AS", {_MEMORY_BYTES}),
        ("RLIMIT_FSIZE", {_FILE_BYTES}), ("RLIMIT_CORE", 0), ("RLIMIT_NPROC", 0),
    ]
    for name, most in limits:
        try:
            resource.setrlimit(getattr(resource, name), (most, most))
        except (AttributeError, OSError, ValueError):
            pass  # not every system knows every limit
    return compile(sys.stdin.buffer.read(), "program.py", "exec")
_program = _program()
exec(_program)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sandbox:
    """How programs are run."""

    isolation: Isolation
    time_limit_s: float = TIME_LIMIT_S

    @property
    def is_isolated(self) -> bool:
        """Whether a program sees neither the user's files nor a network."""
        return self.isolation.is_complete

    @property
    def warning(self) -> str | None:
        """What the user must be told before anything is run."""
        if self.is_isolated:
            return None
        return (
            "code that a model wrote is run on this machine WITH your rights, files and network "
            f"({self.time_limit_s:.0f} s and {_MEMORY_BYTES // 2**20} MiB at most each): install "
            "bubblewrap, or use a container or a virtual machine"
        )

    def passes(self, program: str) -> bool:
        """Run a program and end all that it started; return whether it came to its end."""
        whole = f"{program}\nraise SystemExit({_REACHED_END})\n"
        with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
            return self._run(whole.encode("utf-8", "replace"), Path(folder)) == _REACHED_END

    def _run(self, program: bytes, folder: Path) -> int | None:
        """Return the exit code, None where the time is up. The folder is empty, and its own."""
        seconds = str(math.ceil(self.time_limit_s))
        with subprocess.Popen(
            [*self.isolation.words(folder), _python(), "-I", "-S", "-c", _BOOTSTRAP, seconds],
            cwd=folder,
            env={"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                process.communicate(program, self.time_limit_s)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            return process.returncode


def find_sandbox() -> Sandbox:
    """Return the strictest way to run programs that works here, tried for real.

    Raises EvaluationFault where they cannot be run within limits at all.
    """
    if sys.platform == "win32":
        raise EvaluationFault("programs are run on Linux and macOS only: leave the execution out")
    for isolation in isolations():
        sandbox = Sandbox(isolation=isolation)
        if _works(sandbox):
            return sandbox
    raise EvaluationFault(
        f"no program can be run here, not even `{_python()} -c pass` "
        "in an empty folder: see to its rights, or leave the execution out"
    )


def _works(sandbox: Sandbox) -> bool:
    with tempfile.TemporaryDirectory(prefix="intarsia-") as hidden:
        try:
            return sandbox.passes(sandbox.isolation.proof(Path(hidden)))
        except OSError:  # its program cannot be started
            return False


def _python() -> str:
    """Return the interpreter without its virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))
