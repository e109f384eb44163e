"""Where Python finds a module: next to the file, or in a folder that is on the search path."""

import posixpath
from collections.abc import Iterator, Sequence

from intarsia.workspace.modules.files import Files
from intarsia.workspace.symbols.symbols import Import

_ENDINGS = (".py", ".pyi", "/__init__.py", "/__init__.pyi")
_SOURCE_FOLDERS = ("src", "lib", "python")


def python_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the module's file, then those of imported names that are modules themselves."""
    rest = imported.module.lstrip(".")
    num_dots = len(imported.module) - len(rest)
    parts = rest.split(".") if rest else []
    names = [one.name for one in imported.names if one.name != "*"]
    for folder, tail in _places(path, parts, num_dots, files):
        base = posixpath.join(folder, *tail)
        found = _module(base, files) if tail or num_dots else ()
        for name in names:
            found += _module(f"{base}/{name}", files)
        if found:
            return found
    return ()


def _places(
    path: str, parts: Sequence[str], num_dots: int, files: Files
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield folders that the module may be in, with the rest of its name."""
    if num_dots:
        folder = posixpath.dirname(path)
        for _ in range(num_dots - 1):
            folder = posixpath.dirname(folder)
        yield folder, parts
        return
    above = list(files.folders_above(path))
    packages = [folder for folder in above if files.exists(f"{folder}/__init__.py")]
    searched = [folder for folder in above if folder not in packages]
    others = [root.rstrip("/") for root in files.roots]
    sources = [f"{folder}/{name}" for folder in (*searched, *others) for name in _SOURCE_FOLDERS]
    for folder in (*searched, *others, *sources, *packages):
        yield folder, parts
    if len(parts) > 2:
        for folder in others:
            yield folder, parts[1:]


def _module(base: str, files: Files) -> tuple[str, ...]:
    return files.first(base + ending for ending in _ENDINGS)
