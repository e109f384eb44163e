"""One target with one engine in a process of its own, watched from outside: death and hangs.

A process that dies is replaced, and goes on with the next inputs.
"""

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from harness.watched import Current, keep_finding

Engine: TypeAlias = Literal["mutation", "coverage"]

MEMORY = Path("/dev/shm")
"""Files that targets write are kept in memory, where there is such a folder."""

WORKER = Path(__file__).parents[1] / "worker.py"
STUCK_S = 120.0
"""A process that begins no input for this time hangs: it is ended. Imports take a part of it."""
POLL_S = 0.5
MAX_RESTARTS = 10
BATCH = 1_000


@dataclass(kw_only=True, slots=True)
class Job:
    """What is to be done, and how far it is. ``python`` is the interpreter of the engine."""

    name: str
    engine: Engine
    num_inputs: int
    seed: int
    python: str
    folder: Path
    num_done: int = 0
    seconds: float = 0.0
    num_deaths: int = 0
    problems: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Check all inputs; what ends a process is kept as a finding."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while self.num_done < self.num_inputs and self.num_deaths < MAX_RESTARTS:
            started, before = time.monotonic(), self.num_done
            self._run_once()
            self.seconds += time.monotonic() - started
            if self.num_done == before:
                self.problems.append("its process does not start: see its log")
                return

    def _run_once(self) -> None:
        path = self.folder / f"{self.name}.{self.engine}.current"
        path.unlink(missing_ok=True)
        current = Current(path)
        with (
            path.with_suffix(".log").open("ab") as log,
            tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as scratch,
        ):
            environment = {**os.environ, "TMPDIR": scratch}
            process = subprocess.Popen(self._command(), stdout=log, stderr=log, env=environment)
            try:
                is_stuck = _watch(process, current)
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
        number, data = current.last()
        self.num_done += number
        if is_stuck or process.returncode:
            self.num_deaths += 1
            kind = "hang" if is_stuck else "death"
            why = f"the process ended with {process.returncode}: see {path.with_suffix('.log')}\n"
            keep_finding(self.folder / "findings", self.name, kind, why, data)

    def _command(self) -> list[str]:
        return [
            *(self.python, str(WORKER), self.name, "--engine", self.engine),
            *("--inputs", str(self.num_inputs - self.num_done), "--seed", str(self.seed)),
            *("--first-batch", str(-(-self.num_done // BATCH)), "--folder", str(self.folder)),
        ]


def _watch(process: "subprocess.Popen[bytes]", current: Current) -> bool:
    """Return whether the process is stuck, once it is or has ended."""
    last, since = current.last()[0], time.monotonic()
    while True:
        try:
            process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            number = current.last()[0]
            if number != last:
                last, since = number, time.monotonic()
            elif time.monotonic() - since > STUCK_S:
                return True
        else:
            return False
