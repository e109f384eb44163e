"""Opened folders, paths as the index writes them, and whether the file at a path has changed.

Paths are absolute, with forward slashes.
"""

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import Self


@dataclass(frozen=True, kw_only=True, slots=True)
class RootSettings:
    """An opened folder and the user's settings for it."""

    path: str
    exclude: tuple[str, ...] = ()  # patterns, as in ``exclusion``
    exclude_secrets: bool = True
    excluded_paths: tuple[str, ...] = ()  # files and folders, by their absolute paths


def as_posix(path: str) -> str:
    """Return an absolute path with forward slashes, without ``..`` and double slashes."""
    return PurePath(os.path.normpath(path)).as_posix()


def real_path(path: str) -> str:
    """Return the path without links, as far as it exists."""
    try:
        return PurePath(os.path.realpath(path)).as_posix()
    except (OSError, ValueError):  # a loop of links, a null character
        return ""


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or inside it, by their names."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def has_odd_parts(path: str) -> bool:
    """Return whether a path could lead elsewhere than it says, or is no Unicode text."""
    if "\0" in path or not {"..", "."}.isdisjoint(path.split("/")):
        return True
    try:
        path.encode()
    except UnicodeEncodeError:  # a name that is not UTF-8 on disk
        return True
    return False


def parent_of(path: str) -> str:
    """Return the folder that a path is in; a root is in itself."""
    parent = path.rpartition("/")[0]
    if not parent.strip("/") or parent.endswith(":"):  # / and C:/
        return parent + "/"
    return parent


def joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


OPEN_TEXT = -1
"""Stands for the time of a text that is open in the editor, and perhaps not saved."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """Size and time of a file; both are 0 where there was none."""

    path: str
    num_bytes: int
    mtime_ns: int

    @classmethod
    def now(cls, path: str) -> Self:
        """Return the file as it is now; a link is not followed."""
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            return cls(path=path, num_bytes=0, mtime_ns=0)
        return cls(path=path, num_bytes=status.st_size, mtime_ns=status.st_mtime_ns)

    @property
    def is_open_text(self) -> bool:
        return self.mtime_ns == OPEN_TEXT

    def has_changed(self) -> bool:
        """Whether the file is another one by now; an open text changes by the editor's word."""
        return not self.is_open_text and self != Seen.now(self.path)
