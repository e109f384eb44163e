"""A lock between processes, so that only one does a piece of work at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from intarsia.engine.cache.progress import Progress


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
