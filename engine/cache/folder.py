"""The user's cache folder, and errors of its disk as one plain line. Knows nothing of models."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from intarsia.engine.errors import ModelError, NoRoomError
from intarsia.engine.ipc.ownership import make_own_folder

_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_ADVICE = "free some, or point INTARSIA_CACHE_DIR to a disk with room"


def cache_folder() -> Path:
    """Return the cache folder; INTARSIA_CACHE_DIR overrides it."""
    override = os.environ.get("INTARSIA_CACHE_DIR")
    return Path(override).expanduser() if override else platformdirs.user_cache_path("intarsia")


def require_own_folder(folder: Path) -> None:
    """Make a folder if it is missing. Raises OSError, and ModelError if it is not ours alone."""
    if (weakness := make_own_folder(folder, is_private=False)) is not None:
        raise ModelError(
            f"{weakness}: {weakness.remedy}, or set INTARSIA_CACHE_DIR to a folder of your own"
        )


@contextmanager
def plain_disk_faults(folder: Path) -> Iterator[None]:
    """Raise ModelError instead of OSError where the disk of ``folder`` is full or read-only."""
    try:
        yield
    except OSError as fault:
        if is_disk_full(fault):
            raise NoRoomError(f"no space left on the disk of {folder}: {_ADVICE}") from fault
        reason = fault.strerror or str(fault)
        raise ModelError(
            f"cannot write in the cache folder {folder} ({reason}): "
            "make it writable, or set INTARSIA_CACHE_DIR to a folder that is"
        ) from fault


def is_disk_full(fault: BaseException) -> bool:
    """Return whether the error is a full disk or an exceeded quota."""
    return isinstance(fault, OSError) and fault.errno in _DISK_FULL


def require_space(folder: Path, num_bytes: int) -> None:
    """Raise ModelError if the disk of ``folder`` has less free space than this."""
    free = shutil.disk_usage(folder).free
    if free < num_bytes:
        raise NoRoomError(
            f"not enough space on the disk of {folder}: {_megabytes(num_bytes)} needed, "
            f"{_megabytes(free)} free: {_ADVICE}"
        )


def _megabytes(num_bytes: int) -> str:
    return f"{num_bytes / 1e6:,.0f} MB"
