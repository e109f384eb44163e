"""How Go names packages: by a path that begins with the module's, the same for all."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.languages import Language
from intarsia.workspace.imports.module_names import Surroundings, Written
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.symbols.symbols import Import


@dataclass(frozen=True, slots=True)
class GoNames:
    """Implements ``ModuleNames``. A place is the package's path, in the project too."""

    around: Surroundings
    language: Language

    def place_of(self, written: Written, name: str) -> str | None:
        return None if written.module.startswith(".") else written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        found = resolve_import(
            Import(module=place, line=0),
            path=self.around.path,
            language=self.language,
            files=self.around.files,
        )
        own = posixpath.dirname(self.around.path)
        return None if any(posixpath.dirname(it) == own for it in found) else place
