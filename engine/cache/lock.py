"""One process at a time for one piece of work; the others say that they wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from intarsia.engine.cache.progress import Progress


@contextmanager
def turn(target: Path, work: str, on_progress: Progress) -> Iterator[None]:
    """Hold the lock beside ``target`` while the block runs; ``work`` is what another may be at."""
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
