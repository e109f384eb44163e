"""Progress of long work for the user: the share of a download, or the process waited for."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from filelock import FileLock, Timeout

Progress: TypeAlias = Callable[[str, float | None], None]
"""Called with the stage and a fraction from 0 to 1, None if unknown; on any thread."""

_PERIOD_S = 0.25
_RATE_AFTER_S = 2.0  # before that, a rate says little


@contextmanager
def report_growth(
    folder: Path, num_bytes: int, stage: str, on_progress: Progress
) -> Iterator[None]:
    """Report how much of ``num_bytes`` is in ``folder``, while the block runs.

    Other programs (pip, the Hub's client) write there and report progress in their own ways, so the
    size on disk is what is measured.
    """
    done, began_at, first = threading.Event(), time.monotonic(), size_of(folder)

    def report(num_there: int) -> None:
        there, seconds = min(num_there, num_bytes), time.monotonic() - began_at
        words = f"{stage}, {there / 1e6:.0f} of {num_bytes / 1e6:.0f} MB"
        if seconds >= _RATE_AFTER_S and there > first:
            rate = (there - first) / seconds
            words += f", {rate / 1e6:.1f} MB/s, {(num_bytes - there) / rate:.0f} s left"
        on_progress(words, there / num_bytes)

    def watch() -> None:
        largest = 0  # a file that is moved may be counted twice for a moment
        while not done.wait(_PERIOD_S):
            largest = max(largest, size_of(folder))
            report(largest)

    watcher = threading.Thread(target=watch, name="intarsia-download-progress", daemon=True)
    report(first)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def size_of(folder: Path) -> int:
    """Return the bytes of all files in ``folder``; files that are being deleted are ignored."""
    total = 0
    for place, _, names in os.walk(folder):  # unlike rglob, it survives folders that vanish
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(place, name).stat().st_size
    return total


@contextmanager
def exclusive(target: Path, work: str, on_progress: Progress) -> Iterator[None]:
    """Hold the lock file next to ``target`` while the block runs.

    While another process holds it, report that; ``work`` says what that process does.
    """
    lock = FileLock(target.with_name(f"{target.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_progress(f"waiting for another process that {work}", None)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
