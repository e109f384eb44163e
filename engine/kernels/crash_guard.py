"""Notice that a process died while it first ran kept code, so that the next one does not run it.

A seal shows that code is what was written. It cannot show that it runs here: a virtual machine may
have moved to another processor.
"""

import contextlib
import logging
import uuid
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

_PREFIX, _SUFFIX = "first-run-", ".lock"

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def first_run(folder: Path) -> Iterator[None]:
    """Leave a mark in the folder if the process ends while the block runs.

    The mark is a lock file: the system frees the lock however the process ends.
    """
    mark = folder / f"{_PREFIX}{uuid.uuid4().hex}{_SUFFIX}"
    lock = FileLock(mark)
    try:
        lock.acquire(timeout=0)
    except (OSError, NotImplementedError) as error:  # a full disk, or one without locks
        _log.warning("a crash of kept code would not be noticed: %s", error)
        yield
        return
    try:
        yield
    finally:
        lock.release()
        _remove(mark)


def has_crashed(folder: Path) -> bool:
    """Tell whether a process died in ``first_run`` since this was asked last."""
    marks = list(folder.glob(f"{_PREFIX}*{_SUFFIX}"))
    return any([_take_mark(mark) for mark in marks])


def _take_mark(mark: Path) -> bool:
    """Remove the mark of a process that is gone; return whether it is."""
    lock = FileLock(mark)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError, NotImplementedError):
        return False
    lock.release()
    _remove(mark)
    return True


def _remove(mark: Path) -> None:
    with contextlib.suppress(OSError):
        mark.unlink()
