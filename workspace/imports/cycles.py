"""Tells whether an import would close a circle, which Python and Go do not allow."""

from collections import deque

from intarsia.infill.languages import Language
from intarsia.workspace.imports.module_names import Surroundings
from intarsia.workspace.index.reader import IndexReader
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.symbols.symbols import Import

MAX_FILES = 40
"""Files that are followed: a longer way round is not seen."""

_STRICT = ("python", "go")
_ENDINGS = ("", ".py", "/__init__.py")


def imports_back(index: IndexReader, around: Surroundings, language: Language, place: str) -> bool:
    """Whether the files of a place import the file itself, directly or by others."""
    if language.id not in _STRICT:
        return False
    waiting = deque(_files_of(around, language, place))
    seen = set(waiting)
    while waiting and len(seen) <= MAX_FILES:
        path = waiting.popleft()
        if path == around.path:
            return True
        symbols = index.symbols_of(path)
        for imported in symbols.imports if symbols is not None else ():
            if imported.is_nested and language.id == "python":
                continue
            found = resolve_import(imported, path=path, language=language, files=around.files)
            waiting.extend(it for it in found if it not in seen)
            seen.update(found)
    return around.path in seen


def _files_of(around: Surroundings, language: Language, place: str) -> list[str]:
    if language.id == "go":
        imported = Import(module=place, line=0)
        return list(
            resolve_import(imported, path=around.path, language=language, files=around.files)
        )
    return [place + it for it in _ENDINGS if around.files.exists(place + it)]
