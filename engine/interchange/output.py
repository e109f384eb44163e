"""Write a file or a folder under its final name only once it is complete."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OutputError(Exception):
    """A result cannot be written. The message is one line: what, and what to do."""


def require_new(path: Path) -> None:
    """Raise OutputError if the path is taken. An empty folder is not."""
    try:
        is_taken = path.is_symlink() or (any(path.iterdir()) if path.is_dir() else path.exists())
    except OSError as fault:
        raise _not_written(path, fault) from fault
    if is_taken:
        raise OutputError(f"{path} exists: remove it, or give another name")


def require_room(folder: Path, num_bytes: int) -> None:
    """Raise OutputError if the disk of a folder has less free space than this."""
    free = shutil.disk_usage(folder).free
    if free < num_bytes:
        raise OutputError(
            f"the disk of {folder} has {free / 1e6:,.0f} MB free, {num_bytes / 1e6:,.0f} MB "
            "are needed: give a place with room"
        )


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder to write into, named ``path`` once complete. Raises OutputError."""
    with new_file(path) as partial:
        partial.mkdir()
        yield partial
        if path.is_dir():
            path.rmdir()


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a file's path to write to, named ``path`` once complete. Raises OutputError."""
    require_new(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # In a folder of this user alone: beside it, others could have put a link.
        own = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial"))
        try:
            yield own / path.name
            (own / path.name).rename(path)
        finally:
            shutil.rmtree(own, ignore_errors=True)
    except OSError as fault:
        raise _not_written(path, fault) from fault


def _not_written(path: Path, fault: OSError) -> OutputError:
    reason = fault.strerror or str(fault)
    return OutputError(f"cannot write {path} ({reason}): give a place with room that is writable")
