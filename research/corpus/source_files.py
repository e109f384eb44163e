"""Find the source files that people work on in a folder, by name; no file is read.

Hidden folders, folders of vendored code and of tools, and links are left out.
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
_TOOL_MARKERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that mark a folder as a tool's: a cache or a virtual environment."""


def walk_source_files(
    folder: Path, *, skipped: Collection[str] = FOLDERS_OF_OTHERS
) -> Iterator[Path]:
    """Yield the files with the suffix of a known language, in no order."""
    for parent, folders, names in os.walk(folder):
        if _TOOL_MARKERS.intersection(names) and Path(parent) != folder:
            folders.clear()
            continue
        folders[:] = [name for name in folders if name not in skipped and name[0] != "."]
        for name in names:
            path = Path(parent, name)
            is_known = language_for_path(name) is not PLAIN_TEXT
            if is_known and not path.is_symlink() and path.is_file():
                yield path
