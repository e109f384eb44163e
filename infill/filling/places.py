"""Where a fill is wanted: a cursor, a stretch of text, or a place that asks for one.

Places are of the text as it was; opened they are a hole in the text as it is by then.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from intarsia.infill.holes.hole import find_hole, hole_for_range
from intarsia.infill.holes.marked_hole import MarkedHole, OpenHole, open_marked
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """The rest of a line, or the block that its header opens."""

    start: int

    @property
    def end(self) -> int:
        return self.start


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """A range that the user named."""

    start: int
    end: int


Place: TypeAlias = Cursor | Stretch | MarkedHole


def open_place(
    place: Place, text: str, language: Language, *, shift: int = 0
) -> OpenHole | NoSuggestion:
    """Return the hole in a text in which the place has moved by ``shift``."""
    match place:
        case MarkedHole():
            moved = replace(place, start=place.start + shift, end=place.end + shift)
            return open_marked(text, moved, language)
        case Cursor(start=start):
            hole = find_hole(text, start + shift, language)
        case Stretch(start=start, end=end):
            hole = hole_for_range(text, start + shift, end + shift, language)
    if isinstance(hole, NoSuggestion):
        return hole
    return OpenHole(shown=text, hole=hole, start=hole.start, end=hole.end)
