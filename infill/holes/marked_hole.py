"""A place in a text that asks to be filled, and the hole that it becomes.

Comes in: offsets of what stands there now; goes out: the text as the engine shall see it, with the
hole in it. What of the place is to stay (a comment) and what sets the fill on lines of its own
goes round the fill.
"""

from dataclasses import dataclass

from intarsia.infill.holes.hole import MAX_LINES, Hole, find_hole
from intarsia.infill.holes.token_healing import given_start
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import line_end, line_start


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkedHole:
    """``text[start:end]`` becomes ``before`` + fill + ``after``."""

    start: int
    end: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenHole:
    """A hole in the text that is shown; its fill goes into the text that is.

    ``start`` and ``end`` are what of the latter is replaced by ``before`` + fill + ``after``.
    """

    shown: str
    hole: Hole
    start: int
    end: int
    before: str = ""
    after: str = ""


def open_marked(text: str, marked: MarkedHole, language: Language) -> OpenHole | NoSuggestion:
    """Return the hole of a place: a body, whole statements, or the rest of a line."""
    shown = text[: marked.start] + marked.before + marked.after + text[marked.end :]
    offset = marked.start + len(marked.before)
    hole = find_hole(shown, offset, language)
    if isinstance(hole, NoSuggestion):
        return hole
    if hole.kind == "line" and _is_blank_line(shown, hole.start):
        hole = _statements(shown, hole.start)
    return OpenHole(
        shown=shown,
        hole=hole,
        start=marked.start,
        end=marked.end,
        before=marked.before,
        after=marked.after,
    )


def _is_blank_line(text: str, offset: int) -> bool:
    return not text[line_start(text, offset) : line_end(text, offset)].strip(" \t\ufeff")


def _statements(text: str, offset: int) -> Hole:
    return Hole(
        start=offset,
        end=offset,
        kind="statements",
        given_start=given_start(text, offset),
        max_lines=MAX_LINES,
    )
