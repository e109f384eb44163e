"""Runs a target's check on one input after the other, and keeps what fails.

The input that is being checked is in a mapped file: it outlives a process that a grammar crashes.
"""

import hashlib
import mmap
import struct
import time
import traceback
from pathlib import Path

from harness.target import Target

SLOW_S = 1.0
"""An input that takes more of the processor's time than this is a finding."""

_HEAD = struct.Struct("<QQ")  # the number of inputs that were begun, the bytes of the last one
_MAPPED_BYTES = 1 << 20
MAX_FINDINGS = 20
"""Different findings of one process; after these it only counts."""


class Current:
    """The mapped file of one process: how many inputs it has begun, and the last one."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_MAPPED_BYTES))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _MAPPED_BYTES)

    def begin(self, number: int, data: bytes) -> None:
        """Note the input with this number."""
        kept = data[: _MAPPED_BYTES - _HEAD.size]
        self._map[_HEAD.size : _HEAD.size + len(kept)] = kept
        _HEAD.pack_into(self._map, 0, number, len(kept))

    def last(self) -> tuple[int, bytes]:
        """Return the number of the last input, and that input."""
        number, num_bytes = _HEAD.unpack_from(self._map)
        return number, self._map[_HEAD.size : _HEAD.size + num_bytes]


class Watched:
    """A target whose failures are kept as files: the input, and what happened."""

    def __init__(self, name: str, target: Target, current: Current, findings: Path) -> None:
        self.num_inputs = 0
        self._name = name
        self._check = target.check
        self._current = current
        self._findings = findings
        self._known: set[str] = set()

    def check(self, data: bytes) -> None:
        """Check one input."""
        self.num_inputs += 1
        self._current.begin(self.num_inputs, data)
        started = time.thread_time()
        try:
            self._check(data)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 (a Rust panic is no Exception)
            self._keep(_kind(error), _place(error), traceback.format_exc(), data)
        if (took_s := time.thread_time() - started) > SLOW_S:
            self._keep("hang", "slow", f"it took {took_s:.2f} s\n", data)

    def _keep(self, kind: str, place: str, report: str, data: bytes) -> None:
        """Keep a finding, once for each place."""
        if (kind + place) in self._known or len(self._known) >= MAX_FINDINGS:
            return
        self._known.add(kind + place)
        keep_finding(self._findings, self._name, kind, report, data)


def keep_finding(folder: Path, name: str, kind: str, report: str, data: bytes) -> Path:
    """Write an input and what happened; return the path of the input."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.{kind}.{hashlib.sha256(data).hexdigest()[:12]}.input"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(report, encoding="utf-8", errors="backslashreplace")
    return path


def _kind(error: BaseException) -> str:
    return "divergence" if isinstance(error, AssertionError) else "crash"


def _place(error: BaseException) -> str:
    """Return the type of an error, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
