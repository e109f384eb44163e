"""Runs a program that a model has written parts of, in a process of its own, within limits.

Comes in: the program's text; goes out: whether it ran to its end. Knows nothing of fills.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from intarsia.cli.faults import CliError

TIME_LIMIT_S = 10.0

_MEMORY_BYTES = 1024**3
_FILE_BYTES = 16 * 1024**2
_REACHED_END = 87
"""What the last line exits with: a fill that ends the program early has not passed."""

# Namespaces of its own: no network, and its last process gone when the first one is.
_UNSHARE_FLAGS = ("--map-root-user", "--net", "--pid", "--fork", "--kill-child")

_BOOTSTRAP = f"""
import resource, runpy, sys
limits = [
    ("RLIMIT_CPU", int(sys.argv[2])), ("RLIMIT_AS", {_MEMORY_BYTES}),
    ("RLIMIT_FSIZE", {_FILE_BYTES}), ("RLIMIT_CORE", 0), ("RLIMIT_NPROC", 0),
]
for name, most in limits:
    try:
        resource.setrlimit(getattr(resource, name), (most, most))
    except (AttributeError, OSError, ValueError):
        pass  # not every system knows every limit
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Runner:
    """How programs are run. ``wrapper``: the words before the command, none without unshare."""

    wrapper: tuple[str, ...]
    time_limit_s: float = TIME_LIMIT_S

    @property
    def warning(self) -> str:
        network = (
            "no network"
            if self.wrapper
            else "but WITH network, because `unshare` cannot be used here"
        )
        return (
            "code that a model wrote is run on this machine with your rights: each program in a "
            f"process of its own, {self.time_limit_s:.0f} s and {_MEMORY_BYTES // 2**20} MiB at "
            f"most, {network}; use a container or a virtual machine for models you do not trust"
        )

    def passes(self, program: str) -> bool:
        """Run a program and end all that it started; return whether it came to its end."""
        with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "program.py"
            path.write_text(f"{program}\nraise SystemExit({_REACHED_END})\n", encoding="utf-8")
            return self._run(path) == _REACHED_END

    def _run(self, path: Path) -> int | None:
        seconds = str(max(1, round(self.time_limit_s)))
        process = subprocess.Popen(
            [*self.wrapper, sys.executable, "-I", "-c", _BOOTSTRAP, path.name, seconds],
            cwd=path.parent,
            env={"PATH": os.defpath, "HOME": str(path.parent), "TMPDIR": str(path.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(self.time_limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def make_runner() -> Runner:
    """Return how programs can be run here. Raises CliError where they cannot be limited."""
    if sys.platform == "win32":
        raise CliError("--execute needs Linux or macOS, which limit a process: leave it out")
    return Runner(wrapper=_find_unshare())


def _find_unshare() -> tuple[str, ...]:
    """Return the words that take a command's network away, none where that cannot be done."""
    program = shutil.which("unshare")
    if program is None:
        return ()
    words = (program, *_UNSHARE_FLAGS)
    command = [*words, sys.executable, "-I", "-c", ""]
    trial = subprocess.run(command, capture_output=True, check=False)
    return words if trial.returncode == 0 else ()
