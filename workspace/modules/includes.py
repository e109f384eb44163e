"""Where a file finds another that it names by its path: C, Ruby, Lua, Zig, Dart, shell and CSS."""

import posixpath
import re

from intarsia.workspace.modules.files import Files
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
