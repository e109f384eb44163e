"""Walks a folder for the source files that people work on there.

Comes in: a folder; goes out: paths. Left out are folders of others, of tools, and hidden ones, and
whatever is no plain file. Reads no file.
"""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from intarsia.infill.languages import PLAIN_TEXT, language_for_path

FOLDERS_OF_OTHERS = frozenset(
    {
        *("__pycache__", "build", "dist", "dist-packages", "node_modules", "site-packages"),
        *("third_party", "vendor"),
    }
)
_MARKS_OF_TOOLS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""A folder with one of these was made by a tool: a cache, a build, a virtual environment."""


def walk_source_files(
    folder: Path, *, skipped: Collection[str] = FOLDERS_OF_OTHERS
) -> Iterator[Path]:
    """Yield the files whose names are of a known language, in no order."""
    for parent, folders, names in os.walk(folder):
        if _MARKS_OF_TOOLS.intersection(names) and Path(parent) != folder:
            folders.clear()
            continue
        folders[:] = [it for it in folders if it not in skipped and it[0] != "."]
        for name in names:
            path = Path(parent, name)
            is_known = language_for_path(name) is not PLAIN_TEXT
            if is_known and not path.is_symlink() and path.is_file():
                yield path
