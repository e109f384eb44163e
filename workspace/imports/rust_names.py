"""How Rust names modules: from a crate's root. ``self`` and ``super`` are written as ``crate``."""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.languages import Language
from intarsia.workspace.imports.module_names import Surroundings, Written
from intarsia.workspace.modules.rust import module_of, source_folder

_RELATIVE = ("self", "super")


@dataclass(frozen=True, slots=True)
class RustNames:
    """Implements ``ModuleNames``. A place is a path from a crate's root."""

    around: Surroundings
    language: Language

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
