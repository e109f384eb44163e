"""The hole to fill at a cursor, a mark or a range: where it is, and what text belongs there.

A mark's old text is removed before the model sees it. What stays of it, such as a comment, and
the line ends that give the fill lines of its own are put around the fill.

    fn f() { todo!() }   →   fn f() {⏎    ◌⏎}        ◌ is the fill
    ‸return x            →   ◌⏎return x              ‸ is the cursor

Token healing: the model's fill begins a little before the hole, so that no token is cut. Byte-pair
tokenizers join one leading blank or punctuation mark to the word after it (" return", ".append").
So a half-typed word is given to the fill with the one character before it.
"""

import re
import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.blocks import Header, opened_block
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import (
    BYTE_ORDER_MARK,
    line_at,
    line_end,
    line_start,
    newline_of,
    splits_line_end,
)
from intarsia.infill.syntax.parse import MAX_LINE_CHARS, parse

MAX_GIVEN_CHARS = 64


def given_start(text: str, start: int) -> int:
    """Return where the text that the fill must begin with starts, on the line of ``start``."""
    earliest = max(line_start(text, start), start - MAX_GIVEN_CHARS)
    offset = start
    while offset > earliest and is_word_character(text[offset - 1]):
        offset -= 1
    if offset > earliest and _joins_next_word(text[offset - 1]):
        offset -= 1
    return offset


def is_word_character(character: str) -> bool:
    """Whether the character can continue an identifier or a word (combining marks can)."""
    return ("a" + character).isidentifier()


def _joins_next_word(character: str) -> bool:
    is_mark = character in string.punctuation or unicodedata.category(character).startswith("P")
    return is_mark or character in " \t"


HoleKind = Literal[
    "line",  # the rest of one line
    "block",  # the body that a header has just opened
    "span",  # a range that the user selected; if it is empty, text of any length
    "statements",  # any number of lines at the hole's own indentation
]

MAX_LINES = 32
"""The most lines of a fill, where the text does not tell how many it should have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hole:
    """A range of a text, ``text[start:end]``, that a fill replaces.

    ``text[given_start:start]`` is typed already and stays: a half-typed word with the blank before
    it, say. The model is given it as the beginning of its own fill, so that no token is cut.
    """

    start: int
    end: int
    kind: HoleKind
    given_start: int
    max_lines: int
    header: Header | None = None  # of a block, the header that opens it
    is_inserted: bool = False  # a new line before existing code, which nothing open may take in

    def __post_init__(self) -> None:
        if not 0 <= self.given_start <= self.start <= self.end:
            raise ValueError(f"hole out of order: {self.given_start=} {self.start=} {self.end=}")


def find_hole(text: str, offset: int, language: Language) -> Hole | NoSuggestion:
    """Return the hole at a cursor. It is empty: text right of the cursor stays.

    Raises ValueError if the offset is outside the text.
    """
    check_range(text, offset, offset)
    if refusal := refusal_of_hole(text, offset):
        return refusal
    start = _snap(text, offset)
    code = code_at(text, start, start, language)
    header = opened_block(code.text, start, code.language, parse(code.text, code.language))
    return Hole(
        start=start,
        end=start,
        kind="line" if header is None else "block",
        given_start=given_start(text, start),
        max_lines=1 if header is None else MAX_LINES,
        header=header,
    )


def refusal_of_hole(text: str, offset: int) -> NoSuggestion | None:
    """Return why there is no hole at a cursor, None where there is one. Parses nothing."""
    if "\0" in text:
        return NoSuggestion(reason="the text contains NUL characters, so it looks binary")
    length = line_end(text, offset) - line_start(text, offset)
    if length <= MAX_LINE_CHARS:
        return None
    most = f"at most {MAX_LINE_CHARS:,} can be read"
    return NoSuggestion(reason=f"the line is too long: {length:,} characters, and {most}")


def hole_for_range(text: str, start: int, end: int, language: Language) -> Hole:
    """Return the hole of a range that the user selected; an empty one may become several lines.

    Raises ValueError if the range is outside the text.
    """
    check_range(text, start, end)
    first = _snap(text, start)
    last = max(first, end + 1 if splits_line_end(text, end) and first < end else _snap(text, end))
    removed = text[first:last]
    is_line = first < last and "\n" not in removed and "\r" not in removed
    return Hole(
        start=first,
        end=last,
        kind="line" if is_line else "span",
        given_start=given_start(text, first),
        max_lines=1 if is_line else MAX_LINES + len(removed.splitlines()),
    )


def check_range(text: str, start: int, end: int) -> None:
    """Raise ValueError if a range is outside the text."""
    if start > end:
        raise ValueError(f"the range ends before it starts: {start} > {end}")
    if start < 0 or end > len(text):
        offset = start if start < 0 else end
        raise ValueError(f"position {offset} is outside the text, which has {len(text)} characters")


def check_disjoint(holes: Sequence[Hole]) -> None:
    """Raise ValueError if two holes overlap or start at the same offset."""
    ordered = sorted(holes, key=lambda hole: (hole.start, hole.end))
    for left, right in pairwise(ordered):
        if right.start < left.end or right.start == left.start:
            raise ValueError(
                f"holes overlap: {left.start}-{left.end} and {right.start}-{right.end}; "
                "give ranges that do not"
            )


def _snap(text: str, offset: int) -> int:
    """Step out of a CRLF, and past a byte order mark: nothing may be inserted before it."""
    if splits_line_end(text, offset):
        return offset - 1
    return 1 if offset == 0 and text.startswith(BYTE_ORDER_MARK) else offset


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
