"""Where Go finds a package: in the folder that its path names, below that of go.mod."""

import posixpath
import re

from intarsia.workspace.modules.files import Files
from intarsia.workspace.symbols.symbols import Import

_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
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
    if own := _MODULE.search(text):
        modules[own[1]] = folder
    for name, place in _REPLACED.findall(text):
        modules[name] = posixpath.join(folder, place)
    for place in _USED.findall(text):
        other = posixpath.join(folder, place)
        if used := _MODULE.search(files.config(f"{other}/go.mod") or ""):
            modules[used[1]] = other
    return modules
