"""Reads ``paths`` and ``baseUrl`` of the nearest tsconfig.json or jsconfig.json."""

import posixpath
from collections.abc import Iterator, Mapping

from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.tolerant_json import as_object, as_strings, read_object

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
