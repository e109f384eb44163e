"""The user's cache folder: where it is, and faults of its disk as one plain line.

Knows nothing of models.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from intarsia.engine.errors import ModelError

_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_ADVICE = "free some, or point INTARSIA_CACHE_DIR to a disk with room"


def cache_folder() -> Path:
    """Return the folder for downloads and conversions; INTARSIA_CACHE_DIR overrides it."""
    override = os.environ.get("INTARSIA_CACHE_DIR")
    return Path(override).expanduser() if override else platformdirs.user_cache_path("intarsia")


@contextmanager
def plain_disk_faults(folder: Path) -> Iterator[None]:
    """Turn a full or unwritable disk under ``folder`` into a ModelError that says so."""
    try:
        yield
    except OSError as fault:
        if is_disk_full(fault):
            raise ModelError(f"no space left on the disk of {folder}: {_ADVICE}") from fault
        reason = fault.strerror or str(fault)
        raise ModelError(
            f"cannot write in the cache folder {folder} ({reason}): "
            "make it writable, or set INTARSIA_CACHE_DIR to a folder that is"
        ) from fault


def is_disk_full(fault: BaseException) -> bool:
    """Tell whether the fault is a disk (or a quota) without room."""
    return isinstance(fault, OSError) and fault.errno in _DISK_FULL


def require_space(folder: Path, num_bytes: int) -> None:
    """Refuse before the work what the disk of ``folder`` cannot hold."""
    free = shutil.disk_usage(folder).free
    if free < num_bytes:
        raise ModelError(
            f"not enough space on the disk of {folder}: {_megabytes(num_bytes)} needed, "
            f"{_megabytes(free)} free: {_ADVICE}"
        )


def _megabytes(num_bytes: int) -> str:
    return f"{num_bytes / 1e6:,.0f} MB"
