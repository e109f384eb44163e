"""Where Rust finds a module: by its path from the crate's root, which is below Cargo.toml."""

import posixpath
import tomllib
from collections.abc import Iterator, Sequence

from intarsia.workspace.modules.files import Files, is_module_named
from intarsia.workspace.symbols.symbols import Import

_ROOTS = ("lib", "main")
_OWN = ("mod", *_ROOTS)
"""Files that are the module of their folder."""


def rust_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the module's file, then those of imported names that are modules themselves."""
    parts = imported.module.split("::")
    source = source_folder(path, files)
    here = module_of(path, source)
    names = [one.name for one in imported.names if one.name not in ("*", "self")]
    for start, rest in _starts(parts, source, here, path, files):
        found = _module(start, rest, files)
        for name in names:
            found += _exactly(start, [*rest, name], files)
        if found:
            return found
    return ()


def is_path_of_crate(imported: Import, file: str, files: Files) -> bool:
    """Whether a file bears the name of the module, or of what is imported from it."""
    last = imported.module.rpartition("::")[2]
    named = (last, *(it.name for it in imported.names))
    return last in ("crate", "self", "super") or any(is_module_named(file, it) for it in named)


def _starts(
    parts: Sequence[str], source: str, here: Sequence[str], path: str, files: Files
) -> Iterator[tuple[str, list[str]]]:
    """Yield source folders with the path of the module from their root."""
    first, rest = parts[0], list(parts[1:])
    if first == "crate":
        yield source, rest
    elif first in ("self", "super"):
        num_up = sum(part == "super" for part in parts)
        below = [part for part in parts if part not in ("self", "super")]
        yield source, [*here[: max(0, len(here) - num_up)], *below]
    else:
        if len(parts) == 1 or _exactly(source, [*here, first], files):  # mod parser;
            yield source, [*here, *parts]
        for folder in _crate_folders(first, path, files):
            yield f"{folder}/src", rest


def source_folder(path: str, files: Files) -> str:
    """Return the folder of the crate's root file."""
    for folder in files.folders_above(path):
        if files.config(f"{folder}/Cargo.toml") is not None:
            inside = path.removeprefix(folder + "/").split("/")[0]
            return f"{folder}/{inside}" if "/" in path.removeprefix(folder + "/") else folder
    for folder in files.folders_above(path):
        if any(files.exists(f"{folder}/{name}.rs") for name in _ROOTS):
            return folder
    return posixpath.dirname(path)


def module_of(path: str, source: str) -> list[str]:
    """Return the path of the module that a file is, from its crate's root."""
    inside = path.removeprefix(source + "/").removesuffix(".rs").split("/")
    return inside[:-1] if inside[-1] in _OWN else inside


def _module(source: str, parts: Sequence[str], files: Files) -> tuple[str, ...]:
    """Return the file of the innermost module of a path: its end may name a type in it."""
    for num_parts in range(len(parts), 0, -1):
        found = _exactly(source, parts[:num_parts], files)
        if found:
            return found
    return files.first(f"{source}/{name}.rs" for name in _ROOTS)


def _exactly(source: str, parts: Sequence[str], files: Files) -> tuple[str, ...]:
    base = posixpath.join(source, *parts)
    return files.first((f"{base}.rs", f"{base}/mod.rs"))


def _crate_folders(name: str, path: str, files: Files) -> Iterator[str]:
    """Yield the folders of a crate that Cargo.toml depends on by path."""
    for folder, text in files.config_above(path, "Cargo.toml"):
        try:
            manifest = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        if _name(manifest.get("package")) == name:
            yield folder
        workspace = manifest.get("workspace")
        tables = (manifest, workspace if isinstance(workspace, dict) else {})
        for table in tables:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                for crate, wanted in dict(table.get(kind) or {}).items():
                    place = wanted.get("path") if isinstance(wanted, dict) else None
                    if isinstance(place, str) and crate.replace("-", "_") == name:
                        yield posixpath.join(folder, place)


def _name(package: object) -> str:
    name = package.get("name") if isinstance(package, dict) else None
    return name.replace("-", "_") if isinstance(name, str) else ""
