"""How one language names a project's modules: what a written one means, and how to write it.

A *place* is what two imports of the same module have in common: a path without its ending for a
file of the project, else the module's own name.
"""

import posixpath
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.languages import Language
from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.modules.rust import module_of, source_folder
from intarsia.workspace.symbols.symbols import Import, ImportedName


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The file that gets an import, and the files of the project."""

    path: str
    language: Language
    imports: Sequence[Import]  # that it has
    files: Files

    def resolve(self, imported: Import, path: str | None = None) -> tuple[str, ...]:
        """Return the files that an import means, in the file itself or in another one."""
        return resolve_import(
            imported, path=path or self.path, language=self.language, files=self.files
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """One way in which a file of the project writes a module."""

    path: str
    module: str


@dataclass(frozen=True, slots=True)
class ModuleNames(ABC):
    """The rules of one language."""

    around: Surroundings

    @abstractmethod
    def place_of(self, written: Written, name: str) -> str | None:
        """Return the place of a module that has this name, None where it cannot be told."""

    @abstractmethod
    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        """Return the module as the file would write it, None where it must not import it.

        ``others``: how other files write it, the most frequent way first; perhaps none.
        """


class GoNames(ModuleNames):
    """A place is the package's path, in the project too."""

    def place_of(self, written: Written, name: str) -> str | None:
        return None if written.module.startswith(".") else written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        found = self.around.resolve(Import(module=place, line=0))
        own = posixpath.dirname(self.around.path)
        return None if any(posixpath.dirname(it) == own for it in found) else place


class JavaNames(ModuleNames):
    """A place is the full name of a package or an outer class."""

    def place_of(self, written: Written, name: str) -> str | None:
        return written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        return place


_RELATIVE = ("self", "super")


class RustNames(ModuleNames):
    """A place is a path from a crate's root."""

    def place_of(self, written: Written, name: str) -> str | None:
        if not name:  # a crate, which needs no import
            return None
        parts = written.module.split("::")
        if parts[0] not in ("crate", *_RELATIVE):
            return written.module
        source = source_folder(written.path, self.around.files)
        if source != source_folder(self.around.path, self.around.files):
            return None
        if parts[0] == "crate":
            return written.module
        here = list(module_of(written.path, source))
        while parts and parts[0] in _RELATIVE:
            if parts.pop(0) == "super":
                if not here:
                    return None
                here.pop()
        return "::".join(["crate", *here, *parts])

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        if not place.startswith("crate"):
            return place
        files = self.around.files
        own = module_of(self.around.path, source_folder(self.around.path, files))
        return None if place == "::".join(["crate", *own]) else place


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


def _without_ending(path: str) -> str:
    for ending in _PYTHON_ENDINGS:
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path


_ECMASCRIPT_ENDINGS = (".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_COMPILED = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs"}
_WRITTEN_ENDINGS = (*_ECMASCRIPT_ENDINGS, ".vue", ".svelte", ".json")
_INDEX = "/index"


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
