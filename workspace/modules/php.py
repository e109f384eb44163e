"""Where PHP finds a class: by the ``autoload`` rules of composer.json (PSR-4), or by its path."""

import posixpath
from collections.abc import Iterator

from intarsia.workspace.modules.files import Files, as_object, as_strings, read_object
from intarsia.workspace.symbols.symbols import Import

_USUAL_FOLDERS = ("src", "app", "lib")


def php_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the files of imported classes, or the file that is required."""
    if imported.module.endswith((".php", ".inc")):
        written = imported.module.lstrip("/")
        return files.first(f"{folder}/{written}" for folder in files.folders_above(path))
    found: tuple[str, ...] = ()
    for one in imported.names:
        name = f"{imported.module}\\{one.name}".lstrip("\\")
        found += files.first(_class_paths(name, path, files))
    return found


def _class_paths(name: str, path: str, files: Files) -> Iterator[str]:
    for folder, text in files.config_above(path, "composer.json"):
        config = read_object(text)
        for key in ("autoload", "autoload-dev"):
            rules = as_object(as_object(config.get(key)).get("psr-4"))
            for prefix in sorted(rules, key=len, reverse=True):
                if name.startswith(prefix):
                    inside = name.removeprefix(prefix).strip("\\").replace("\\", "/")
                    for place in as_strings(rules[prefix]):
                        yield f"{posixpath.join(folder, place)}/{inside}.php"
    parts = name.split("\\")
    for folder in files.folders_above(path):
        for start in range(len(parts)):
            for base in (folder, *(f"{folder}/{one}" for one in _USUAL_FOLDERS)):
                yield f"{base}/{'/'.join(parts[start:])}.php"
