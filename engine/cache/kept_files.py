"""Small files that are kept in a folder of the user's own, within a budget of bytes and of age.

Several processes may read and write at once: a file appears whole, or not at all, and may vanish at
any time. Only the user may read it. Knows nothing of what is in the files.
"""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from intarsia.engine.ipc.ownership import make_own_folder, weakness_of

_UNFINISHED = ".unfinished-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """How much a folder holds."""

    num_files: int
    num_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a folder may hold. A file unused for ``max_age_s`` seconds is removed."""

    max_bytes: int
    max_age_s: float


class KeptFiles:
    """The files of one subfolder of ``root``. The limits are those of all subfolders together."""

    def __init__(self, root: Path, subfolder: str, limits: Limits) -> None:
        self.folder = root / subfolder
        self._root = root
        self._limits = limits

    def names(self, pattern: str) -> list[str]:
        """Return the names that match, least recently used first.

        None if there is no folder, or if other users may enter or replace it.
        """
        if not (_is_private(self._root) and _is_private(self.folder)):
            return []
        used = []
        for path in self.folder.glob(pattern):
            with suppress(OSError):  # another process removed it
                used.append((path.stat().st_mtime_ns, path.name))
        return [name for _, name in sorted(used)]

    def path(self, name: str) -> Path:
        """Return where a file of this name is, whether it exists or not."""
        return self.folder / name

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file, or raise OSError and leave none."""
        self._make_folder()
        number, unfinished = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.folder)  # mode 0600
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
            Path(unfinished).replace(self.path(name))
        except BaseException:
            with suppress(OSError):
                Path(unfinished).unlink()
            raise

    def touch(self, names: Iterable[str]) -> None:
        """Note that these files were used just now, the last one most recently."""
        for name in names:
            now = time.time_ns()  # the system's own time of a file advances in steps of 4 ms
            with suppress(OSError):
                os.utime(self.path(name), ns=(now, now))

    def remove(self, names: Iterable[str]) -> None:
        """Remove these files, as far as they exist and may be removed."""
        for name in names:
            with suppress(OSError):
                self.path(name).unlink()

    def trim(self) -> None:
        """Remove what is too old, then the least recently used files until the rest fits.

        A folder that other users may enter was not made here: nothing in it is removed.
        """
        if not _is_private(self._root):
            return
        now, num_bytes = time.time(), 0
        for used_at, size, path in sorted(_files(self._root), reverse=True):
            num_bytes += size
            if num_bytes > self._limits.max_bytes or now - used_at > self._limits.max_age_s:
                with suppress(OSError):
                    path.unlink()
        for folder in _folders(self._root):
            with suppress(OSError):  # it is not empty
                folder.rmdir()

    def _make_folder(self) -> None:
        """Make both folders; raise PermissionError where other users may enter or replace them."""
        for folder in (self._root, self.folder):
            make_own_folder(folder)
            if not _is_private(folder):
                raise PermissionError(f"{folder} is not a folder of yours alone (mode 0700)")


def _is_private(folder: Path) -> bool:
    """Tell whether there is such a folder, which only this user may enter or replace."""
    try:
        is_folder = stat.S_ISDIR(folder.lstat().st_mode)
        return is_folder and weakness_of(folder, is_private=True) is None
    except OSError:
        return False


def usage_of(root: Path) -> Usage:
    """Return how much all subfolders of ``root`` hold; nothing if it does not exist."""
    sizes = [size for _, size, _ in _files(root)]
    return Usage(num_files=len(sizes), num_bytes=sum(sizes))


def remove_all(root: Path) -> None:
    """Remove the folder and all that is in it. Raises OSError where that is not allowed."""
    with suppress(FileNotFoundError):
        shutil.rmtree(root)


def _files(root: Path) -> list[tuple[float, int, Path]]:
    """Return when each file was used last, its size and its path."""
    found = []
    for folder in _folders(root):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        found.append((status.st_mtime, status.st_size, Path(entry.path)))
    return found


def _folders(root: Path) -> list[Path]:
    with suppress(OSError), os.scandir(root) as entries:
        return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []
