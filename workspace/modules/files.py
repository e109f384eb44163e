"""The questions that rules of imports ask about a workspace's files, and their common parts."""

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from intarsia.workspace.index.project_index import ProjectIndex

MAX_FOLDERS = 40
"""Folders above a file that are looked at."""

MAX_CONFIG_CHARS = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """The files of the opened folders. Paths are absolute, with forward slashes."""

    roots: Sequence[str]
    exists: Callable[[str], bool]  # whether there is a file, not a folder
    files_in: Callable[[str], Sequence[str]]  # the files of a folder, without its subfolders
    read: Callable[[str], str | None]  # the text of a small file, None if it may not be read

    def root_of(self, path: str) -> str | None:
        """Return the innermost opened folder that a file is in."""
        around = [root for root in self.roots if path.startswith(root.rstrip("/") + "/")]
        return max(around, key=len, default=None)

    def folders_above(self, path: str) -> Iterator[str]:
        """Yield the folder of a file and those around it, up to the opened folder."""
        root = self.root_of(path)
        folder = posixpath.dirname(path)
        for _ in range(MAX_FOLDERS):
            yield folder
            if root is None or folder == root.rstrip("/") or folder in ("", "/"):
                return
            folder = posixpath.dirname(folder)

    def first(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the first of these paths that is a file of the workspace."""
        plain = (posixpath.normpath(path) for path in paths)
        return next(((path,) for path in plain if self.is_inside(path) and self.exists(path)), ())

    def with_suffix(self, folder: str, *suffixes: str) -> tuple[str, ...]:
        """Return the files of a folder that end with one of these, in order."""
        folder = posixpath.normpath(folder)
        if not self.is_inside(folder + "/"):
            return ()
        return tuple(sorted(path for path in self.files_in(folder) if path.endswith(suffixes)))

    def is_inside(self, path: str) -> bool:
        """Whether a path is in an opened folder: no import leads out of these."""
        return any(path.startswith(root.rstrip("/") + "/") for root in self.roots)

    def config_above(self, path: str, *names: str) -> Iterator[tuple[str, str]]:
        """Yield folder and text of each configuration file of these names, nearest first."""
        for folder in self.folders_above(path):
            for name in names:
                text = self.config(f"{folder}/{name}")
                if text is not None:
                    yield folder, text

    def config(self, path: str) -> str | None:
        """Return the text of a configuration file, None if there is none or it is too long."""
        path = posixpath.normpath(path)
        text = self.read(path) if self.is_inside(path) else None
        return text if text is not None and len(text) <= MAX_CONFIG_CHARS else None


FOLDER_NAMES = ("__init__", "index", "mod")
"""Files that speak for their folder."""


def is_module_named(path: str, name: str) -> bool:
    """Whether a file is the module of this name: ``name.py`` or ``name/__init__.py``."""
    folder, file = posixpath.split(path)
    stem = file.partition(".")[0]
    return (posixpath.basename(folder) if stem in FOLDER_NAMES else stem) == name


def files_of(index: ProjectIndex, path: str) -> Files:
    """Return the indexed files of the opened folder that a file is in.

    Answers are kept: the rules ask about hundreds of paths.
    """
    with_stem = cache(lambda stem: frozenset(index.files_named(stem)))

    def exists(path: str) -> bool:
        name = path.rpartition("/")[2]
        return path in with_stem(name.rpartition(".")[0] or name)

    roots = [root] if (root := index.root_of(path)) else []
    return Files(roots=roots, exists=exists, files_in=index.files_in, read=index.read)


_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)


def read_object(text: str | None) -> Mapping[str, object]:
    """Return the object of a text, empty if there is none or it cannot be read."""
    if text is None:
        return {}
    for unwanted in (_COMMENT, _LAST_COMMA):
        text = unwanted.sub(lambda match: match[1] or "", text)
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def as_object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def as_strings(value: object) -> list[str]:
    """Return the strings of a list, or one string as a list."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
