"""Where a fill is asked for: a cursor, a range of text, or a hole found in the file.

Places are in terms of the original text. ``open_place`` turns one into a hole of the current text.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from intarsia.infill.holes.hole import find_hole, hole_for_range
from intarsia.infill.holes.marked_hole import MarkedHole, OpenHole, open_marked
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """Asks for the rest of a line, or for the block that the line's header opens."""

    start: int

    @property
    def end(self) -> int:
        return self.start


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Asks to replace a range that the user selected."""

    start: int
    end: int


Place: TypeAlias = Cursor | Selection | MarkedHole


def open_place(
    place: Place, text: str, language: Language, *, shift: int = 0
) -> OpenHole | NoSuggestion:
    """Return the hole of a place that has moved by ``shift`` characters in ``text``."""
    match place:
        case MarkedHole():
            moved = replace(place, start=place.start + shift, end=place.end + shift)
            return open_marked(text, moved, language)
        case Cursor(start=start):
            hole = find_hole(text, start + shift, language)
        case Selection(start=start, end=end):
            hole = hole_for_range(text, start + shift, end + shift, language)
    if isinstance(hole, NoSuggestion):
        return hole
    return OpenHole(shown=text, hole=hole, start=hole.start, end=hole.end)
