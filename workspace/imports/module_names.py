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
from intarsia.workspace.symbols.symbols import Import


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
