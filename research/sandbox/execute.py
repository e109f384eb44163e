"""Run a program that a model has written parts of, in a sandbox and within limits.

The program may use the standard library only. ``isolation`` has the ways to isolate it.
"""

import hmac
import io
import math
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from intarsia_research.errors import EvaluationFault
from intarsia_research.sandbox import inside_sandbox
from intarsia_research.sandbox.inside_sandbox import MEMORY_BYTES, SECRET_BYTES
from intarsia_research.sandbox.isolation import Isolation, isolations

TIME_LIMIT_S = 10.0

_SOURCE = Path(inside_sandbox.__file__).read_text(encoding="utf-8")
_BOOTSTRAP = f"exec({_SOURCE + 'run()'!r}, {{'__name__': 'inside_sandbox'}})"
"""It comes by a flag and the program by stdin, so that no folder of ours need be visible."""


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
            f"({self.time_limit_s:.0f} s and {MEMORY_BYTES // 2**20} MiB at most each): install "
            "bubblewrap, or use a container or a virtual machine"
        )

    def passes(self, program: str) -> bool:
        """Run a program, end every process that it started; return whether it reached its end."""
        secret = secrets.token_bytes(SECRET_BYTES)
        with (
            tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder,
            _pipe() as given,
            _pipe() as told,
        ):
            given.writer.write(secret)
            ends = (given.reader.fileno(), told.writer.fileno())
            os.set_blocking(told.reader.fileno(), False)  # an unfinished program tells nothing
            if not self._run(program.encode("utf-8", "replace"), Path(folder), ends):
                return False
            return hmac.compare_digest(told.reader.read(SECRET_BYTES + 1) or b"", secret)

    def _run(self, program: bytes, folder: Path, pipe_ends: tuple[int, int]) -> bool:
        """Return whether it ended within its time. The folder is empty and used once."""
        words = (math.ceil(self.time_limit_s), *pipe_ends)
        with subprocess.Popen(
            [
                *self.isolation.words(folder),
                *(_python(), "-I", "-S", "-c", _BOOTSTRAP, *map(str, words)),
            ],
            cwd=folder,
            env={"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=pipe_ends,
        ) as process:
            try:
                process.communicate(program, self.time_limit_s)
            except subprocess.TimeoutExpired:
                return False
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            return True


class _Pipe(NamedTuple):
    reader: io.FileIO
    writer: io.FileIO


@contextmanager
def _pipe() -> Iterator[_Pipe]:
    reader, writer = os.pipe()
    with io.FileIO(reader, "rb") as one, io.FileIO(writer, "wb") as other:
        yield _Pipe(one, other)


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
