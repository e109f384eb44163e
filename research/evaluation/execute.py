"""Run a program that a model has written parts of, in a sandbox and within limits.

The program may use the standard library only. ``isolation`` has the ways to isolate it.
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
"""Exit code of the last line: a fill that ends the program early does not pass."""

# The program comes by stdin, so that it needs no visible folder; it sees none of these names.
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
            pass  # not every operating system has every limit
    return compile(sys.stdin.buffer.read(), "program.py", "exec")
_program = _program()
exec(_program)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sandbox:
    """A way to run programs."""

    isolation: Isolation
    time_limit_s: float = TIME_LIMIT_S

    @property
    def is_isolated(self) -> bool:
        """Whether a program can access neither the user's files nor a network."""
        return self.isolation.is_complete

    @property
    def warning(self) -> str | None:
        """What the user must know before a program is run."""
        if self.is_isolated:
            return None
        return (
            "code that a model wrote is run on this machine WITH your rights, files and network "
            f"({self.time_limit_s:.0f} s and {_MEMORY_BYTES // 2**20} MiB at most each): install "
            "bubblewrap, or use a container or a virtual machine"
        )

    def passes(self, program: str) -> bool:
        """Run a program, end every process that it started; return whether it reached its end."""
        whole = f"{program}\nraise SystemExit({_REACHED_END})\n"
        with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
            return self._run(whole.encode("utf-8", "replace"), Path(folder)) == _REACHED_END

    def _run(self, program: bytes, folder: Path) -> int | None:
        """Return the exit code; None after the time limit. The folder is empty and used once."""
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
    """Return the strictest sandbox that works on this machine; each is tried.

    Raise EvaluationFault if programs cannot be run within limits at all.
    """
    if sys.platform == "win32":
        raise EvaluationFault("programs are run on Linux and macOS only: give --no-exec")
    for isolation in isolations():
        sandbox = Sandbox(isolation=isolation)
        if _works(sandbox):
            return sandbox
    raise EvaluationFault(
        f"no program can be run here, not even `{_python()} -c pass` "
        "in an empty folder: correct its permissions, or give --no-exec"
    )


def _works(sandbox: Sandbox) -> bool:
    with tempfile.TemporaryDirectory(prefix="intarsia-") as hidden:
        try:
            return sandbox.passes(sandbox.isolation.proof(Path(hidden)))
        except OSError:  # the isolating program cannot be started
            return False


def _python() -> str:
    """Return the interpreter without its virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))
