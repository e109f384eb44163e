"""From positions on the command line to places in a text."""

from collections.abc import Sequence

from intarsia.cli.faults import CliError
from intarsia.cli.text_positions import Position, Range, offset_of
from intarsia.filling.place import Cursor, Stretch
from intarsia.infill.hole import check_disjoint, hole_for_range
from intarsia.infill.languages import Language


def cursor_at(text: str, position: Position) -> Cursor:
    """Return the place of a cursor. Raises CliError outside the text."""
    return Cursor(start=offset_of(text, position))


def stretch_of(text: str, one: Range) -> Stretch:
    """Return the place of a range. Raises CliError outside the text."""
    return Stretch(start=offset_of(text, one.start), end=offset_of(text, one.end))


def stretches_of(text: str, ranges: Sequence[Range], language: Language) -> list[Stretch]:
    """Return the ranges' places in file order. Raises CliError where they overlap."""
    places = sorted((stretch_of(text, one) for one in ranges), key=lambda it: (it.start, it.end))
    try:
        check_disjoint([hole_for_range(text, it.start, it.end, language) for it in places])
    except ValueError as error:
        raise CliError("two holes overlap: give ranges that do not touch each other") from error
    return places
