"""Finds the files that an import means, by their names alone.

Build systems decide this in a hundred ways that only they know; the end of a path nearly always
tells. Of several files the nearest to the importing one is meant.
"""

import posixpath
import re
from collections.abc import Sequence

from intarsia.workspace.index.reader import IndexReader

MAX_FILES = 4
INDEX_NAMES = ("__init__", "index", "mod")
"""Files that speak for their folder."""

_DOTS = re.compile(r"\.+")
_SEPARATORS = re.compile(r"::|[./\\]")
_EXTENSION = re.compile(r"\.(?:[cm]?[jt]sx?|h|hpp|hh|hxx|vue|dart|lua|zig|rb|php)$")


def module_files(index: IndexReader, path: str, module: str) -> Sequence[str]:
    """Return the indexed files that ``module`` means where ``path`` imports it, nearest first."""
    start = _relative_start(path, module)
    parts = _parts(module)
    if start is not None:
        return _exactly(index, path, posixpath.normpath(posixpath.join(start, *parts)))
    return _ending_with(index, path, parts) if parts else ()


def _relative_start(path: str, module: str) -> str | None:
    folder = posixpath.dirname(path)
    if module.startswith(("./", "../")) or (module in (".", "..") and not path.endswith(".py")):
        num_up = module.split("/").count("..")
    elif match := _DOTS.match(module):
        num_up = len(match[0]) - 1
    elif path.endswith(".rs") and module.split("::", maxsplit=1)[0] in ("self", "super"):
        num_up = module.split("::").count("super")
    else:
        return None
    for _ in range(num_up):
        folder = posixpath.dirname(folder)
    return folder


def _parts(module: str) -> list[str]:
    plain = _EXTENSION.sub("", module)
    ignored = ("", "@", "~", "crate", "self", "super")
    return [part for part in _SEPARATORS.split(plain) if part not in ignored]


def _exactly(index: IndexReader, path: str, stem: str) -> Sequence[str]:
    names = (posixpath.basename(stem), *INDEX_NAMES)
    stems = (stem, *(posixpath.join(stem, name) for name in INDEX_NAMES))
    found = [
        file
        for name, wanted in zip(names, stems, strict=True)
        for file in index.files_named(name)
        if posixpath.splitext(file)[0] == wanted
    ]
    return _nearest(found, path)


def _ending_with(index: IndexReader, path: str, parts: Sequence[str]) -> Sequence[str]:
    tail = "/" + "/".join(parts)
    found = [
        file for file in index.files_named(parts[-1]) if posixpath.splitext(file)[0].endswith(tail)
    ]
    found += [
        file
        for name in INDEX_NAMES
        for file in index.files_named(name)
        if posixpath.splitext(file)[0].endswith(f"{tail}/{name}")
    ]
    return _nearest(found, path)


def _nearest(found: Sequence[str], path: str) -> Sequence[str]:
    extension = posixpath.splitext(path)[1]

    def distance(file: str) -> tuple[bool, int, int, str]:
        shared = len(posixpath.commonprefix([file, path]))
        return posixpath.splitext(file)[1] != extension, -shared, len(file), file

    return sorted(found, key=distance)[:MAX_FILES]
