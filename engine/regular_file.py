"""Reads a small file that others may have put there: a pipe or a device is not waited for."""

import errno
import os
import stat
from pathlib import Path

MAX_BYTES = 16_000_000


def read_regular(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return a file's text. Raises OSError for what is no file or too large, else ValueError."""
    with open(path, "rb", opener=_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if status.st_size > max_bytes:
            raise OSError(errno.EFBIG, f"it is larger than {max_bytes // 1_000_000} MB", str(path))
        return file.read(max_bytes).decode("utf-8")


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
