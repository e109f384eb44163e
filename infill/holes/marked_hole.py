"""A place in a text that asks to be filled (a cursor, a mark), and the hole that it becomes.

A mark's old text is removed before the model sees it. What stays of it, such as a comment, and
the line ends that give the fill lines of its own are put around the fill.

    fn f() { todo!() }   →   fn f() {⏎    ◌⏎}        ◌ is the fill
    ‸return x            →   ◌⏎return x              ‸ is the cursor
"""

import re
from dataclasses import dataclass, replace

from intarsia.infill.holes.hole import MAX_LINES, Hole, find_hole
from intarsia.infill.holes.token_healing import given_start, is_word_character
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import BYTE_ORDER_MARK, line_at, line_end, line_start, newline_of

_ENDS_ARGUMENTS = ")],; \t"
"""Marks that a line may end with: no line is begun before them alone."""

_GOES_ON = re.compile(
    r" (?:[-+*/%=<>!&|^?:~@]+|and|as|in|instanceof|is|not in|or) | ?(?:[=!]==?|&&|\|\|)"
)
"""An operator between two blanks, or one that begins no line: the line has begun already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkedHole:
    """``text[start:end]`` becomes ``before`` + fill + ``after``."""

    start: int
    end: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenHole:
    """A hole in the text that the model is shown, and where its fill goes in the real text.

    ``hole`` is in terms of ``shown``. In the real text, ``text[start:end]`` becomes ``before`` +
    fill + ``after``.
    """

    shown: str
    hole: Hole
    start: int
    end: int
    before: str = ""
    after: str = ""


def open_at_cursor(
    text: str, cursor: int, language: Language, *, is_word_whole: bool = False
) -> OpenHole | NoSuggestion:
    """Return the hole at a cursor. Before code that begins there, it is a new line of its own.

    ``is_word_whole``: the word before the cursor was chosen, and no letter may follow. Raises
    ValueError if the cursor is outside the text.
    """
    hole = find_hole(text, cursor, language)
    if isinstance(hole, NoSuggestion):
        return hole
    if is_word_whole and is_word_character(text[hole.start - 1 : hole.start] or " "):
        hole = replace(hole, given_start=hole.start)
    start, after = hole.start, ""
    blank = text[line_start(text, start) : start].removeprefix(BYTE_ORDER_MARK)
    line_rest = text[start : line_end(text, start)]
    rest, goes_on = line_rest.strip(), _GOES_ON.match(line_rest)
    if rest.strip(_ENDS_ARGUMENTS) and not blank.strip() and not goes_on:
        is_closed = hole.header is not None and hole.header.closer == rest[0]
        after = newline_of(text) + (hole.header.indent if is_closed and hole.header else blank)
        text = text[:start] + after + text[start:]
        reopened = find_hole(text, start, language)
        assert isinstance(reopened, Hole), "a shorter line is not refused"
        hole = replace(reopened, is_inserted=True)
    return OpenHole(shown=text, hole=hole, start=start, end=start, after=after)


def open_marked(text: str, marked: MarkedHole, language: Language) -> OpenHole | NoSuggestion:
    """Return the hole of a place: a body, whole statements, or the rest of a line."""
    shown = text[: marked.start] + marked.before + marked.after + text[marked.end :]
    offset = marked.start + len(marked.before)
    hole = find_hole(shown, offset, language)
    if isinstance(hole, NoSuggestion):
        return hole
    if hole.kind == "line" and not line_at(shown, hole.start).strip(" \t\ufeff"):
        hole = _statements(shown, hole.start)
    return OpenHole(
        shown=shown,
        hole=hole,
        start=marked.start,
        end=marked.end,
        before=marked.before,
        after=marked.after,
    )


def _statements(text: str, offset: int) -> Hole:
    return Hole(
        start=offset,
        end=offset,
        kind="statements",
        given_start=given_start(text, offset),
        max_lines=MAX_LINES,
    )
