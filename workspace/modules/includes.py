"""Where a file finds another that it names by its path: C, C++, Ruby, shell and CSS."""

import posixpath
import re

from intarsia.workspace.modules.files import Files
from intarsia.workspace.symbols.symbols import Import

_HEADER_FOLDERS = ("include", "src", "inc", "lib")
_VARIABLE = re.compile(r"^[\"']?(?:\$\{[^}]*\}|\$\([^)]*\)|\$\w+)?[\"']?/")


def included_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return a header of C or C++: near the file, or in an ``include`` folder above it."""
    name = imported.module
    above = list(files.folders_above(path))
    near = [f"{folder}/{name}" for folder in above]
    return files.first(
        (*near, *(f"{folder}/{one}/{name}" for folder in above for one in _HEADER_FOLDERS))
    )


def ruby_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return a required file: next to the file, or in a ``lib`` folder above it."""
    name = imported.module.removesuffix(".rb") + ".rb"
    above = list(files.folders_above(path))
    return files.first(
        (
            f"{above[0]}/{name}",
            *(f"{folder}/{one}{name}" for folder in above for one in ("lib/", "")),
        )
    )


def sourced_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return a file that a script or a style sheet reads; a variable before it is a folder."""
    name = _VARIABLE.sub("", imported.module).lstrip("~").lstrip("/")
    folder = posixpath.dirname(path)
    names = (name, f"{name}.css") if path.endswith(".css") else (name,)
    near = [f"{folder}/{one}" for one in names]
    return files.first((*near, *(f"{one}/{name}" for one in files.folders_above(path))))
