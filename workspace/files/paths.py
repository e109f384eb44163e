"""Opened folders, and paths as the index writes them: absolute, with forward slashes."""

import os
from dataclasses import dataclass
from pathlib import PurePath


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
    """Tell whether a path is a folder or inside it, by their names."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def has_odd_parts(path: str) -> bool:
    """Tell whether a path could lead elsewhere than it says, or is no Unicode text."""
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
