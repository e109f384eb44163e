"""Finds the files of the workspace that an import means.

Python finds a module next to the file, or in a folder that is on the search path. C, Ruby, Lua,
Zig, Dart, shell and CSS name a file by its path. Languages with more rules have a file each.
"""

import posixpath
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from intarsia.infill.languages import Language
from intarsia.workspace.modules.ecmascript import ecmascript_files
from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.namespaces import csharp_files, go_files, java_files, php_files
from intarsia.workspace.modules.rust import is_path_of_crate, rust_files
from intarsia.workspace.symbols.symbols import Import

_HEADER_FOLDERS = ("include", "src", "inc", "lib")
_HUMP = re.compile(r"([a-z0-9]|[A-Z](?=[A-Z][a-z]))([A-Z])")
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


def lua_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return a required module: below a ``lua`` or ``src`` folder, or a folder above the file."""
    name = imported.module.replace(".", "/")
    return files.first(
        f"{folder}/{one}{name}{ending}"
        for folder in files.folders_above(path)
        for one in ("", "lua/", "src/")
        for ending in (".lua", "/init.lua")
    )


def zig_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return an imported file. A package has a name without an ending, and no file here."""
    if not imported.module.endswith((".zig", ".zon")):
        return ()
    return files.first([posixpath.join(posixpath.dirname(path), imported.module)])


def dart_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return an imported library: a relative path, or one in the ``lib`` folder of a package."""
    scheme, colon, inside = imported.module.partition(":")
    if not colon:
        return files.first([posixpath.join(posixpath.dirname(path), imported.module)])
    if scheme != "package":
        return ()
    package, _, rest = inside.partition("/")
    for folder, text in files.config_above(path, "pubspec.yaml"):
        if re.search(rf"^name:\s*{re.escape(package)}\s*$", text, re.MULTILINE):
            return files.first([f"{folder}/lib/{rest}"])
    return files.first(
        f"{folder}/{one}{package}/lib/{rest}"
        for folder in files.folders_above(path)
        for one in ("", "packages/", "pkgs/")
    )


def elixir_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the files of modules, which have their names in small letters below ``lib``."""
    modules = [imported.module, *(f"{imported.module}.{one.name}" for one in imported.names)]
    found: tuple[str, ...] = ()
    for module in modules if not imported.names else modules[1:]:
        parts = [_HUMP.sub(r"\1_\2", part).lower() for part in module.split(".")]
        found += files.first(
            f"{folder}/{one}{'/'.join(parts)}.ex"
            for folder in files.folders_above(path)
            for one in ("lib/", "test/support/", "")
        )
    return found


_PYTHON_ENDINGS = (".py", ".pyi", "/__init__.py", "/__init__.pyi")
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
    return files.first(base + ending for ending in _PYTHON_ENDINGS)


def _is_on_search_path(imported: Import, file: str, files: Files) -> bool:
    if imported.module.startswith("."):
        return True
    parts = imported.module.split(".")
    place = re.sub(r"(/__init__)?\.pyi?$", "", file)
    names = [[*parts, it.name] for it in imported.names]
    tail = next((it for it in (parts, *names) if place.endswith("/" + "/".join(it))), None)
    if tail is None or parts[0] in sys.stdlib_module_names:
        return False
    return not files.exists(f"{place.removesuffix('/' + '/'.join(tail))}/__init__.py")


MAX_FILES = 60

_SCHEMES: Mapping[str, Callable[[Import, str, Files], tuple[str, ...]]] = {
    "search_path": python_files,
    "tsconfig": ecmascript_files,
    "go_mod": go_files,
    "crates": rust_files,
    "package_folders": java_files,
    "namespace_folders": csharp_files,
    "include_folders": included_files,
    "lib_folders": ruby_files,
    "dotted_paths": lua_files,
    "relative_paths": zig_files,
    "pubspec": dart_files,
    "snake_case": elixir_files,
    "psr_4": php_files,
    "sourced": sourced_files,
}
_CHECKS: Mapping[str, Callable[[Import, str, Files], bool]] = {
    "search_path": _is_on_search_path,
    "crates": is_path_of_crate,
}


def resolve_import(
    imported: Import, *, path: str, language: Language, files: Files
) -> tuple[str, ...]:
    """Return the files that an import in ``path`` means, the likeliest first.

    A package gives all its files where any may define the names, as in Go; a module that passes
    names on, such as ``__init__.py``, is returned itself. An import of something that is not in the
    workspace gives ().
    """
    if not language.modules or not imported.module or "\0" in imported.module:
        return ()
    found = _SCHEMES[language.modules](imported, path, files)
    return tuple(dict.fromkeys(one for one in found if one != path))[:MAX_FILES]


def is_meant(imported: Import, file: str, language: Language, files: Files) -> bool:
    """Whether a file that was found for an import has the very path that it names."""
    check = _CHECKS.get(language.modules)
    return check is None or check(imported, file, files)
