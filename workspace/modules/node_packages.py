"""Finds packages that a workspace has itself, by the names in their package.json."""

import posixpath
from collections.abc import Iterator, Mapping

from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.tolerant_json import as_object, as_strings, read_object

_USUAL_FOLDERS = ("packages/*", "apps/*", "libs/*", "modules/*")
_ENTRIES = ("source", "types", "typings", "module", "main")
_BUILT = ("dist/", "build/", "lib/", "out/")
_MAX_CONDITIONS = 4


def package_candidates(module: str, path: str, files: Files) -> Iterator[str]:
    """Yield the paths that a module of a package of this workspace may have."""
    parts = module.split("/")
    num_parts = 2 if module.startswith("@") else 1
    name, inside = "/".join(parts[:num_parts]), "/".join(parts[num_parts:])
    for folder, text in files.config_above(path, "package.json"):
        package = read_object(text)
        if package.get("name") == name:
            yield from _entries(folder, package, inside)
        for member in _member_folders(package):
            place = posixpath.join(folder, member.replace("*", name.rpartition("/")[2]))
            other = read_object(files.config(f"{place}/package.json"))
            if other.get("name") == name:
                yield from _entries(place, other, inside)


def _member_folders(package: Mapping[str, object]) -> list[str]:
    workspaces = package.get("workspaces")
    listed = as_strings(as_object(workspaces).get("packages", workspaces))
    plain = [one.removeprefix("./").rstrip("/").replace("**", "*") for one in listed]
    return [*(one for one in plain if one.count("*") <= 1), *_USUAL_FOLDERS]


def _entries(folder: str, package: Mapping[str, object], inside: str) -> Iterator[str]:
    """Yield where a package's main module, or the module ``inside`` it, may be."""
    key = f"./{inside}" if inside else "."
    exports = package.get("exports")
    written = list(_targets(as_object(exports).get(key, None if inside else exports)))
    if inside:
        written += [inside, f"src/{inside}"]
    else:
        written += [one for entry in _ENTRIES for one in as_strings(package.get(entry))]
        written += ["src/index", "index"]
    for one in written:
        plain = one.removeprefix("./")
        for built in _BUILT:  # what is published is built from the sources
            if plain.startswith(built):
                yield posixpath.join(folder, "src", plain.removeprefix(built))
        yield posixpath.join(folder, plain)


def _targets(exported: object, depth: int = 0) -> Iterator[str]:
    """Yield the paths of an entry of ``exports``, which may depend on conditions."""
    if isinstance(exported, str):
        yield exported
    elif isinstance(exported, dict) and depth < _MAX_CONDITIONS:
        for value in exported.values():
            yield from _targets(value, depth + 1)
