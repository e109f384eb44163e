"""How much memory the machine has free, and whether a model fits."""

import sys
from pathlib import Path

import psutil

from intarsia.engine.errors import NoRoomError

_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Return the bytes that this process may still take."""
    return min(int(psutil.virtual_memory().available), _free_of_limit())


def _free_of_limit() -> int:
    """Return what is left of a container's memory limit (Linux), which free memory ignores."""
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
        return sys.maxsize if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return sys.maxsize  # no such limit here


def require_memory(num_bytes: int, free: int, name: str) -> None:
    """Raise NoRoomError before a load that would not fit into ``free`` bytes."""
    if num_bytes > free:
        raise NoRoomError(
            f"{name} needs {num_bytes / 2**30:.1f} GiB of memory, {free / 2**30:.1f} GiB are free: "
            "close something, or take a smaller model (`intarsia doctor` names them)"
        )
