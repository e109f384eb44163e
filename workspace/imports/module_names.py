"""How one style of imports names a project's modules: what a written one means, how to write it.

A *place* is what two imports of the same module have in common: a path without its ending for a
file of the project, else the module's own name. Here are the languages whose packages have names
of their own; those that name files are in ``script_names.py``.
"""

import posixpath
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.infill.imports.binding import ImportBinding, UnboundName
from intarsia.infill.languages import ImportRules, Language, language_for_path
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.index.reader import FoundDefinition
from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.namespaces import MODULE
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.modules.rust import module_of, source_folder
from intarsia.workspace.symbols.symbols import Import

MAX_DEFINITIONS = 60

_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|testing|examples?|benches)/|[._]test\.|/test_|\.spec\."
)


def is_same(one: Language, other: Language) -> bool:
    """Whether files of two languages import from each other."""
    if one.imports is None or other.imports is None:
        return one.id == other.id
    return one.imports.style == other.imports.style


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The file that gets an import, and the files of the project."""

    path: str
    language: Language
    rules: ImportRules  # of the language
    imports: Sequence[Import]  # that it has
    files: Files
    index: ProjectIndex

    def resolve(self, imported: Import, path: str | None = None) -> tuple[str, ...]:
        """Return the files that an import means, in the file itself or in another one."""
        return resolve_import(
            imported, path=path or self.path, language=self.language, files=self.files
        )

    def may_import(self, found: FoundDefinition) -> bool:
        """Whether the file may import a definition, if that is public; a test only by tests."""
        definition = found.definition
        own_test = _TEST.search(self.path) is not None
        return (
            not definition.container
            and found.path != self.path
            and is_same(language_for_path(found.path), self.language)
            and (own_test or _TEST.search(found.path) is None)
            and definition.kind in ("class", "function", "constant", "type")
            and not definition.name.startswith("_")
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """One way in which a file of the project writes a module."""

    path: str
    module: str


@dataclass(frozen=True, slots=True)
class ModuleNames(ABC):
    """The rules of one style."""

    around: Surroundings

    @abstractmethod
    def place_of(self, written: Written, name: str) -> str | None:
        """Return the place of a module that has this name, None where it cannot be told."""

    @abstractmethod
    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        """Return the module as the file would write it, None where it must not import it.

        ``others``: how other files write it, the most frequent way first; perhaps none.
        """

    def files_of(self, place: str) -> Sequence[str]:
        """Return the files of the project that a place may mean."""
        return ()

    def places_with(self, unbound: UnboundName) -> set[tuple[str, str]]:
        """Return the places of the public definitions of a name, each with the name there."""
        found = self.around.index.definitions_named(unbound.name, limit=MAX_DEFINITIONS)
        usable = [it for it in found if self.around.may_import(it)]
        if len(usable) == MAX_DEFINITIONS:
            return set()
        return {place for it in usable if (place := self.place_of_definition(it)) is not None}

    def place_of_definition(self, found: FoundDefinition) -> tuple[str, str] | None:
        """Return the place and the name there, None where a definition is not public."""
        return None

    def standard(self, unbound: UnboundName) -> ImportBinding | None:
        """Return the import of a standard library that a name means, None where none is sure."""
        name, module = unbound.name, self.around.rules.standard.get(unbound.name)
        return None if module is None else ImportBinding(module=module, name=name, local=name)

    def may_inherit_from(self, place: str, text: str) -> bool:
        """Whether the text may have the names of a place because a class has them."""
        return False


class GoNames(ModuleNames):
    """A place is the package's path, in the project too."""

    def place_of(self, written: Written, name: str) -> str | None:
        return None if written.module.startswith(".") else written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        found = self.files_of(place)
        own = posixpath.dirname(self.around.path)
        return None if any(posixpath.dirname(it) == own for it in found) else place

    def files_of(self, place: str) -> Sequence[str]:
        return self.around.resolve(Import(module=place, line=0))

    def places_with(self, unbound: UnboundName) -> set[tuple[str, str]]:
        """Return the packages of this name that define the member that is used."""
        if len(unbound.path) < 2:
            return set()
        around = self.around
        found = around.index.definitions_named(unbound.path[1], limit=MAX_DEFINITIONS)
        folders = {posixpath.dirname(it.path) for it in found if it.path.endswith(".go")}
        places = set()
        for folder in (it for it in folders if posixpath.basename(it) == unbound.name):
            for above, text in around.files.config_above(around.path, "go.mod"):
                module = MODULE.search(text)
                if module and folder.startswith(above + "/"):
                    places.add((f"{module[1]}/{folder.removeprefix(above + '/')}", ""))
                    break
        return places

    def standard(self, unbound: UnboundName) -> ImportBinding | None:
        found = super().standard(unbound)
        return found and replace(found, name="")


_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)


class JavaNames(ModuleNames):
    """A place is the full name of a package or an outer class."""

    def place_of(self, written: Written, name: str) -> str | None:
        return written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        return place

    def place_of_definition(self, found: FoundDefinition) -> tuple[str, str] | None:
        package = _PACKAGE.search(self.around.index.read(found.path) or "")
        is_public = found.definition.signature.startswith("public ")
        return (package[1], found.definition.name) if package and is_public else None

    def may_inherit_from(self, place: str, text: str) -> bool:
        outer = place.rpartition(".")[2]
        return outer[:1].isupper() and re.search(rf"\b{re.escape(outer)}\b", text) is not None


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

    def files_of(self, place: str) -> Sequence[str]:
        return self.around.resolve(Import(module=place, line=0))

    def place_of_definition(self, found: FoundDefinition) -> tuple[str, str] | None:
        source = source_folder(found.path, self.around.files)
        if source != source_folder(self.around.path, self.around.files):
            return None
        public = r"(?:#\[.*\] )?pub\b(?!\((?:self|super))"
        if not re.match(public, found.definition.signature):
            return None
        return "::".join(["crate", *module_of(found.path, source)]), found.definition.name
