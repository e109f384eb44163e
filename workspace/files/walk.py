"""Finds the files that may be read in an opened folder, nearest to the open files first.

Links are not followed, so there are no cycles. Depth and number of files are bounded.
"""

import heapq
import os
from collections.abc import Iterable, Sequence

from intarsia.workspace.files.file_rules import MAX_DEPTH, FileRules
from intarsia.workspace.files.paths import Seen, has_odd_parts

MAX_FILES = 50_000
MAX_FOLDERS = 50_000
MAX_ENTRIES = 20_000
"""Entries of one folder; a larger folder holds data."""


class Walk:
    """Lists one folder with each step, so that a caller can do other work in between."""

    def __init__(self, rules: FileRules, near: Iterable[str] = ()) -> None:
        """``near``: the paths of open files."""
        self._rules = rules
        self._near = [path.rpartition("/")[0] for path in near]
        self._folders: list[tuple[int, str, int]] = [(0, rules.root, 0)]
        self._num_folders = 1
        self.num_files = 0
        self.secret_sizes: set[int] = set()  # of files that a rule of secrets excludes

    @property
    def is_done(self) -> bool:
        return not self._folders or self.num_files >= MAX_FILES

    def step(self) -> Sequence[Seen]:
        """Return the files of the next folder, none if it cannot be listed."""
        _, folder, depth = heapq.heappop(self._folders)
        if depth > 0 and self._rules.is_tools_folder(folder):
            return ()
        found = []
        for entry in _entries(folder):
            path = f"{folder.rstrip('/')}/{entry.name}"
            if has_odd_parts(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                self._add_folder(path, depth + 1)
            elif entry.is_file(follow_symlinks=False) and (file := self._file(path, entry)):
                found.append(file)
        found = found[: MAX_FILES - self.num_files]
        self.num_files += len(found)
        return found

    def _add_folder(self, path: str, depth: int) -> None:
        if depth > MAX_DEPTH or self._num_folders >= MAX_FOLDERS:
            return
        if self._rules.why_not_folder(path) is None:
            self._num_folders += 1
            heapq.heappush(self._folders, (distance(path, self._near), path, depth))

    def _file(self, path: str, entry: "os.DirEntry[str]") -> Seen | None:
        is_secret = self._rules.why_not_secret(path) is not None
        if not is_secret and (self._rules.why_not_named(path) or self._rules.why_not_ignored(path)):
            return None
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # deleted since
            return None
        if is_secret:
            self.secret_sizes.add(status.st_size)
            return None
        return Seen(path=path, num_bytes=status.st_size, mtime_ns=status.st_mtime_ns)


def distance(folder: str, near: Sequence[str]) -> int:
    """Return the steps up and down the tree from a folder to the nearest of some folders."""
    parts = folder.split("/")
    return min((_steps(parts, other.split("/")) for other in near), default=len(parts))


def _steps(one: Sequence[str], other: Sequence[str]) -> int:
    num_common = 0
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            break
        num_common += 1
    return len(one) + len(other) - 2 * num_common


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    """Return the entries of a folder, none if it cannot be listed or is too large."""
    entries = []
    try:
        with os.scandir(folder) as listed:
            for entry in listed:
                entries.append(entry)
                if len(entries) > MAX_ENTRIES:
                    return []
    except (OSError, ValueError):
        return []
    return entries
