"""Where languages with packages have their files: in folders named like the package.

Java, Kotlin, Scala, C#, Go (below its go.mod) and PHP (by the ``autoload`` rules of composer.json).
"""

import posixpath
import re
from collections.abc import Iterator

from intarsia.workspace.modules.files import Files, as_object, as_strings, read_object
from intarsia.workspace.symbols.symbols import Import

_JAVA_FOLDERS = ("src/main/java", "src/test/java", "src/main/kotlin", "src/main/scala")
_FLAT_FOLDERS = ("src", "java", "kotlin", "app/src")
_JAVA_ENDINGS = (".java", ".kt", ".scala", ".groovy")


def java_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the files of the imported classes, or all of the package for ``*``."""
    package = imported.module.replace(".", "/")
    found: tuple[str, ...] = ()
    for base in _java_bases(path, files):
        for one in imported.names:
            if one.name == "*":
                found += files.with_suffix(f"{base}/{package}", *_JAVA_ENDINGS)
            else:
                found += files.first(f"{base}/{package}/{one.name}{end}" for end in _JAVA_ENDINGS)
        if not found:  # a member of a class, or a class in another
            outer = [package, package.rpartition("/")[0]]
            found = files.first(f"{base}/{one}{end}" for one in outer for end in _JAVA_ENDINGS)
        if found:
            return found
    return ()


def csharp_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the files of the folder that a namespace names, or the end of it.

    The compiler does not ask for such folders; nearly all projects have them.
    """
    parts = imported.module.split(".")
    tails = ["/".join(parts[start:]) for start in range(len(parts))]
    dotted = ["/".join((".".join(parts[:num]), *parts[num:])) for num in range(len(parts), 1, -1)]
    for folder in files.folders_above(path):
        for tail in (*dotted, *tails):
            for base in (folder, f"{folder}/src"):
                found = files.with_suffix(f"{base}/{tail}", ".cs")
                if found:
                    return found
    return ()


def _java_bases(path: str, files: Files) -> Iterator[str]:
    above = list(files.folders_above(path))
    yield from above
    for folder in above:
        for name in (*_JAVA_FOLDERS, *_FLAT_FOLDERS):
            yield f"{folder}/{name}"


MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_REPLACED = re.compile(r"^(?:replace)?\s+(\S+)(?:\s+v\S+)?\s+=>\s+(\.{1,2}/\S*)", re.MULTILINE)
_USED = re.compile(r"^(?:use)?\s+\"?(\.{1,2}/[^\s\")]*)", re.MULTILINE)


def go_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the files of a package, tests left out."""
    for folder, text in files.config_above(path, "go.mod", "go.work"):
        modules = _modules(folder, text, files)
        for name, at in sorted(modules.items(), key=lambda item: -len(item[0])):
            if imported.module == name or imported.module.startswith(name + "/"):
                inside = imported.module.removeprefix(name).strip("/")
                found = files.with_suffix(posixpath.join(at, inside), ".go")
                if found:
                    return tuple(one for one in found if not one.endswith("_test.go"))
    return ()


def _modules(folder: str, text: str, files: Files) -> dict[str, str]:
    """Return the modules that a go.mod or go.work names, with their folders."""
    modules = {}
    if own := MODULE.search(text):
        modules[own[1]] = folder
    for name, place in _REPLACED.findall(text):
        modules[name] = posixpath.join(folder, place)
    for place in _USED.findall(text):
        other = posixpath.join(folder, place)
        if used := MODULE.search(files.config(f"{other}/go.mod") or ""):
            modules[used[1]] = other
    return modules


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
