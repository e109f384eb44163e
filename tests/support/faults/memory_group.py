"""A control group of Linux that limits the memory of processes, where one can be made."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path("/sys/fs/cgroup")
LIMITS = {
    "cgroup.controllers": "memory.max",
    "memory/memory.limit_in_bytes": "memory.limit_in_bytes",
}
"""A file that tells the version of control groups, and the group's file with its limit."""
SWAP_LIMITS = ("memory.swap.max", "memory.memsw.limit_in_bytes")


@contextlib.contextmanager
def memory_group(process: psutil.Process, max_bytes: int) -> Iterator[None]:
    """Limit what a process has in memory; skip the test where that is not possible."""
    version = next((name for name in LIMITS if (ROOT / name).exists()), None)
    if version is None:
        pytest.skip("this system has no control groups for memory")
    try:
        group = Path(tempfile.mkdtemp(prefix="intarsia-", dir=(ROOT / version).parent))
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        try:
            (group / LIMITS[version]).write_text(str(max_bytes))
            _limit_swap(group, max_bytes)
            (group / "cgroup.procs").write_text(str(process.pid))
        except OSError as error:
            pytest.skip(f"memory cannot be limited by a control group: {error}")
        yield
    finally:
        _empty(group)
        group.rmdir()


def _limit_swap(group: Path, max_bytes: int) -> None:
    """Keep the process from going on in swapped memory, where the kernel limits that."""
    for name in SWAP_LIMITS:
        if (group / name).exists():
            (group / name).write_text("0" if name.endswith("max") else str(max_bytes))


def _empty(group: Path) -> None:
    """Move what still runs in the group out of it, as a group with processes stays."""
    for pid in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            os.kill(int(pid), 0)
            (group.parent / "cgroup.procs").write_text(pid)
