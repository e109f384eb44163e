"""How Java names packages: in full, the same for all."""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.languages import Language
from intarsia.workspace.imports.module_names import Surroundings, Written


@dataclass(frozen=True, slots=True)
class JavaNames:
    """Implements ``ModuleNames``. A place is the full name of a package or an outer class."""

    around: Surroundings
    language: Language

    def place_of(self, written: Written, name: str) -> str | None:
        return written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        return place
