"""The answer for one name: the import that it needs, or why none is proposed."""

from dataclasses import dataclass

from intarsia.infill.imports.binding import ImportBinding


@dataclass(frozen=True, kw_only=True, slots=True)
class NeededImport:
    """``binding`` is None where no import is sure; then ``reason`` says why."""

    name: str
    binding: ImportBinding | None = None
    reason: str = ""
