"""Tells whether a file may have a name without an import of that name.

From its package, as in Go and Java, or from an import of all names of a module.
"""

import posixpath

from intarsia.infill.imports.binding import UnboundName
from intarsia.infill.languages import Language, language_for_path
from intarsia.workspace.imports.module_names import Surroundings
from intarsia.workspace.index.reader import IndexReader
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.symbols.symbols import Import

MAX_DEFINITIONS = 60

_WITH_PACKAGES = ("go", "java")


def why_given(
    index: IndexReader, around: Surroundings, language: Language, unbound: UnboundName
) -> str:
    """Return why a name needs no import, "" where it needs one."""
    if language.id in _WITH_PACKAGES and _is_in_package(index, around, language, unbound.name):
        return "its own package defines it"
    for imported in around.imports:
        is_star = any(it.name == "*" for it in imported.names) and imported.kind != "export"
        if is_star and _may_give(index, around, language, imported, unbound.name):
            return f"all names of {imported.module} are imported, perhaps this one"
    return ""


def _is_in_package(index: IndexReader, around: Surroundings, language: Language, name: str) -> bool:
    """Whether a file of the same folder defines a name; in Java, of the same package."""
    folder = posixpath.dirname(around.path)
    found = index.definitions_named(name, limit=MAX_DEFINITIONS)
    here = [
        it
        for it in found
        if not it.definition.container and language_for_path(it.path).id == language.id
    ]
    if language.id == "go":
        return any(posixpath.dirname(it.path) == folder for it in here)
    package = package_folder(folder)
    return any(package_folder(posixpath.dirname(it.path)) == package for it in here)


def package_folder(folder: str) -> str:
    """Return the part of a folder that names its Java package: the same for code and tests."""
    for mark in ("/src/main/java/", "/src/test/java/"):
        before, found, inside = folder.rpartition(mark)
        if found:
            return f"{before}//{inside}"
    return folder


def _may_give(
    index: IndexReader, around: Surroundings, language: Language, imported: Import, name: str
) -> bool:
    """Whether an import of all names may include this one; one from outside may in Python."""
    files = resolve_import(imported, path=around.path, language=language, files=around.files)
    if not files:
        return language.id == "python"
    for path in files:
        symbols = index.symbols_of(path)
        if symbols is None:
            continue
        if any(it.name == name and not it.container for it in symbols.definitions):
            return True
        if any(given.local == name for it in symbols.imports for given in it.names):
            return True
    return False
