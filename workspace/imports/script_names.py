"""How Python, JavaScript and TypeScript name a project's modules, which are files.

See ``module_names.py`` for what each function tells.
"""

import posixpath
import re
import sys
from collections.abc import Sequence

from intarsia.infill.imports.binding import DEFAULT, ImportBinding, UnboundName
from intarsia.workspace.imports.module_names import ModuleNames, Written
from intarsia.workspace.index.reader import FoundDefinition
from intarsia.workspace.symbols.symbols import Import, ImportedName

_PYTHON_ENDINGS = ("/__init__.pyi", "/__init__.py", ".pyi", ".py")


class PythonNames(ModuleNames):
    """A place in the project is the path of a package or a module."""

    def place_of(self, written: Written, name: str) -> str | None:
        module = written.module
        rest = module.lstrip(".")
        num_dots = len(module) - len(rest)
        if num_dots:
            folder = posixpath.dirname(written.path)
            for _ in range(num_dots - 1):
                folder = posixpath.dirname(folder)
            return posixpath.join(folder, *rest.split(".")) if rest else folder
        names = (ImportedName(name=name, local=name),) if name else ()
        found = self.around.resolve(Import(module=module, names=names, line=0), written.path)
        if not found:
            return module
        place = _without_ending(found[0])
        tail = "/" + module.replace(".", "/")
        if not place.endswith(tail) and place.endswith(f"{tail}/{name}"):
            place = posixpath.dirname(place)  # a package without __init__.py
        return place

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        if "/" not in place:
            return place
        own = _without_ending(self.around.path)
        if own == place:
            return None
        relative = self._relative(place)
        absolute = next((it.module for it in others if not it.module.startswith(".")), None)
        absolute = absolute or self._absolute(place)
        if relative is not None and self._prefers_relative(others):
            return relative
        return absolute or relative

    def _prefers_relative(self, others: Sequence[Written]) -> bool:
        """Whether the file imports its package so; else whether most other files do."""
        own = [it.module for it in self.around.imports]
        if any(module.startswith(".") for module in own):
            return True
        package = self._packages_of(posixpath.dirname(self.around.path))
        if package and any(module.split(".")[0] == package[0] for module in own):
            return False
        return bool(others) and others[0].module.startswith(".")

    def _packages_of(self, folder: str) -> list[str]:
        """Return the names of the packages that a folder is in, the outermost first."""
        parts: list[str] = []
        while self._is_package(folder):
            parts.insert(0, posixpath.basename(folder))
            folder = posixpath.dirname(folder)
        return parts

    def _is_package(self, folder: str) -> bool:
        exists = self.around.files.exists
        return exists(f"{folder}/__init__.py") or exists(f"{folder}/__init__.pyi")

    def _relative(self, place: str) -> str | None:
        folder = posixpath.dirname(self.around.path)
        dots = "."
        while place != folder and not place.startswith(folder + "/"):
            if not self._is_package(folder):
                return None
            folder = posixpath.dirname(folder)
            dots += "."
        if not self._is_package(folder):
            return None
        return dots + place[len(folder) + 1 :].replace("/", ".")

    def _absolute(self, place: str) -> str | None:
        """Return the module's name from the folder around its outermost package."""
        if self._is_package(place):
            parts = self._packages_of(place)
        else:
            parts = [*self._packages_of(posixpath.dirname(place)), posixpath.basename(place)]
        return ".".join(parts) if all(part.isidentifier() for part in parts) else None

    def files_of(self, place: str) -> Sequence[str]:
        endings = (".py", "/__init__.py", ".pyi", "/__init__.pyi")
        return [place + it for it in endings if self.around.files.exists(place + it)]

    def place_of_definition(self, found: FoundDefinition) -> tuple[str, str] | None:
        return _without_ending(found.path), found.definition.name

    def standard(self, unbound: UnboundName) -> ImportBinding | None:
        name = unbound.name
        is_module = name in sys.stdlib_module_names and len(unbound.path) > 1
        is_public = is_module and not name.startswith("_")
        return ImportBinding(module=name, name="", local=name) if is_public else None


def _without_ending(path: str) -> str:
    for ending in _PYTHON_ENDINGS:
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path


_ECMASCRIPT_ENDINGS = (".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_COMPILED = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs"}
_WRITTEN_ENDINGS = (*_ECMASCRIPT_ENDINGS, ".vue", ".svelte", ".json")
_INDEX = "/index"


_DECLARED = (
    r"(?:declare\s+|abstract\s+|async\s+)*"
    r"(?:function\*?|class|const|let|var|enum|type|interface)"
)


class EcmascriptNames(ModuleNames):
    """A place in the project is the path of a file."""

    def place_of(self, written: Written, name: str) -> str | None:
        found = self._resolve(written.module, written.path)
        if found:
            return found[0]
        return None if written.module.startswith((".", "/")) else written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        if place == self.around.path:
            return None
        if not place.startswith("/") and ":/" not in place[:4]:
            return others[0].module if others else place
        aliases = [it.module for it in others if not it.module.startswith(".")]
        relatives = [it for it in others if it.module.startswith(".")]
        is_aliased = bool(aliases) and (not relatives or self._uses_alias(aliases[0]))
        if is_aliased and place in self._resolve(aliases[0], self.around.path):
            return aliases[0]
        written = self._relative(place, relatives)
        return written if place in self._resolve(written, self.around.path) else None

    def _uses_alias(self, alias: str) -> bool:
        """Whether the file itself imports by this alias or package."""
        start = alias.split("/", maxsplit=1)[0]
        return any(it.module.split("/")[0] == start for it in self.around.imports)

    def _resolve(self, module: str, path: str) -> tuple[str, ...]:
        return self.around.resolve(Import(module=module, line=0), path)

    def _relative(self, place: str, others: Sequence[Written]) -> str:
        """Return the relative path, with an ending or without one as in the project's files."""
        inside = posixpath.relpath(place, posixpath.dirname(self.around.path))
        ending = next((it for it in _WRITTEN_ENDINGS if inside.endswith(it)), "")
        stem = inside.removesuffix(ending)
        own = [it.module for it in self.around.imports if it.module.startswith(".")]
        sample = own[-1] if own else others[0].module if others else ""
        kept = next((it for it in _WRITTEN_ENDINGS if sample.endswith(it)), "")
        if ending not in _ECMASCRIPT_ENDINGS:
            stem += ending
        elif kept:
            stem += _COMPILED.get(ending, ending) if kept not in (".ts", ".tsx") else ending
        elif stem.endswith(_INDEX) and not any(it.module.endswith(_INDEX) for it in others):
            stem = stem.removesuffix(_INDEX)
        elif stem == "index":
            stem = "."
        return stem if stem.startswith(".") else f"./{stem}"

    def files_of(self, place: str) -> Sequence[str]:
        return [place] if self.around.files.exists(place) else []

    def place_of_definition(self, found: FoundDefinition) -> tuple[str, str] | None:
        exported = _exported(self.around.index.read(found.path) or "", found.definition.name)
        return None if exported is None else (found.path, exported)


def _exported(text: str, name: str) -> str | None:
    """Return the name under which a module of JavaScript exports a definition, None if none."""
    word = re.escape(name)
    if re.search(rf"^export\s+{_DECLARED}\s+{word}\b", text, re.MULTILINE):
        return name
    if re.search(rf"^export\s*\{{[^}}]*\b{word}\s*[,}}]", text, re.MULTILINE):
        return name
    if re.search(rf"^export\s+default\s+(?:{_DECLARED}\s+)?{word}\b", text, re.MULTILINE):
        return DEFAULT
    return None
