"""Where JavaScript and TypeScript find a module: a file, a path of tsconfig.json, or a package.

Packages of the workspace itself are known by the names in their package.json.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from intarsia.workspace.modules.files import Files, as_object, as_strings, read_object
from intarsia.workspace.symbols.symbols import Import

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


MAX_EXTENDS = 5


def mapped_paths(module: str, path: str, files: Files) -> Iterator[str]:
    """Yield the paths, without an ending, that the configuration gives a module's name."""
    for folder, text in files.config_above(path, "tsconfig.json", "jsconfig.json"):
        for config_folder, options in _options(folder, read_object(text), files):
            base = posixpath.join(config_folder, str(options.get("baseUrl", ".")))
            yield from _by_pattern(module, base, as_object(options.get("paths")))
            if "baseUrl" in options:
                yield posixpath.join(base, module)


def _options(
    folder: str, config: Mapping[str, object], files: Files
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the compiler options of a configuration, then of those that it extends or refers to."""
    waiting = [(folder, config)]
    for _ in range(MAX_EXTENDS):
        if not waiting:
            return
        folder, config = waiting.pop(0)
        yield folder, as_object(config.get("compilerOptions"))
        references = config.get("references")
        referred = [
            f"{one.get('path')}"
            for one in (references if isinstance(references, list) else [])
            if isinstance(one, dict)
        ]
        for name in (*as_strings(config.get("extends")), *referred):
            if not name.startswith("."):
                continue
            other = posixpath.normpath(posixpath.join(folder, name))
            for file in (other, f"{other}.json", f"{other}/tsconfig.json"):
                text = files.config(file)
                if text is not None:
                    waiting.append((posixpath.dirname(file), read_object(text)))
                    break


def _by_pattern(module: str, base: str, paths: Mapping[str, object]) -> Iterator[str]:
    """Yield the targets of the patterns that a name fits, the most specific pattern first."""
    for pattern in sorted(paths, key=lambda one: -len(one.partition("*")[0])):
        before, star, after = pattern.partition("*")
        fits = module.startswith(before) and module.endswith(after) if star else module == pattern
        if not fits or len(module) < len(before) + len(after):
            continue
        middle = module[len(before) : len(module) - len(after)] if star else ""
        for target in as_strings(paths[pattern]):
            yield posixpath.join(base, target.replace("*", middle))


_ENDINGS = (
    *(".ts", ".tsx", ".d.ts", ".mts", ".cts"),
    *(".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
)
_SOURCES = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""An import names what the compiler writes; the source has another ending."""

_ALIASES = ("@/", "~/")
"""The usual names of the source folder, which bundlers know and tsconfig.json may not."""


def ecmascript_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the module's file. Packages that are not in the workspace have none."""
    for base in _bases(imported.module.partition("?")[0], path, files):
        found = files.first(_candidates(base))
        if found:
            return found
    return ()


def _bases(module: str, path: str, files: Files) -> Iterator[str]:
    if module.startswith((".", "/")):
        folder = posixpath.dirname(path) if module.startswith(".") else ""
        yield posixpath.join(folder, module)
        return
    yield from mapped_paths(module, path, files)
    yield from package_candidates(module, path, files)
    for alias in _ALIASES:
        if module.startswith(alias):
            for folder in files.folders_above(path):
                yield f"{folder}/src/{module.removeprefix(alias)}"
                yield f"{folder}/{module.removeprefix(alias)}"


def _candidates(base: str) -> Sequence[str]:
    stem, ending = posixpath.splitext(base)
    sources = [stem + source for source in _SOURCES.get(ending, ())]
    indexes = [f"{base}/index{one}" for one in _ENDINGS]
    return [base, *sources, *(base + one for one in _ENDINGS), *indexes]
