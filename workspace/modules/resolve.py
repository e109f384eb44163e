"""Finds the files of the workspace that an import means."""

from collections.abc import Callable

from intarsia.infill.languages import ECMASCRIPT_IDS, Language
from intarsia.workspace.modules.ecmascript import ecmascript_files
from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.includes import (
    dart_files,
    elixir_files,
    included_files,
    lua_files,
    ruby_files,
    sourced_files,
    zig_files,
)
from intarsia.workspace.modules.namespaces import csharp_files, go_files, java_files, php_files
from intarsia.workspace.modules.python import python_files
from intarsia.workspace.modules.rust import rust_files
from intarsia.workspace.symbols.symbols import Import

MAX_FILES = 60

_RULES: dict[str, Callable[[Import, str, Files], tuple[str, ...]]] = {
    "python": python_files,
    **dict.fromkeys(ECMASCRIPT_IDS, ecmascript_files),
    "go": go_files,
    "rust": rust_files,
    **dict.fromkeys(("java", "kotlin", "scala"), java_files),
    "csharp": csharp_files,
    "c": included_files,
    "cpp": included_files,
    "ruby": ruby_files,
    "lua": lua_files,
    "zig": zig_files,
    "dart": dart_files,
    "elixir": elixir_files,
    "php": php_files,
    "shellscript": sourced_files,
    "css": sourced_files,
}


def resolve_import(
    imported: Import, *, path: str, language: Language, files: Files
) -> tuple[str, ...]:
    """Return the files that an import in ``path`` means, the likeliest first.

    A package gives all its files where any may define the names, as in Go; a module that passes
    names on, such as ``__init__.py``, is returned itself. An import of something that is not in the
    workspace gives ().
    """
    rule = _RULES.get(language.id)
    if rule is None or not imported.module or "\0" in imported.module:
        return ()
    found = dict.fromkeys(one for one in rule(imported, path, files) if one != path)
    return tuple(found)[:MAX_FILES]
