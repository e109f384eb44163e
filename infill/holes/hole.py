"""The hole to fill at a cursor or in a range: where it is, and what kind of text belongs there.

Knows nothing of budgets, canvases and the engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from intarsia.infill.holes.token_healing import given_start
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.blocks import Header, opened_block
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import BYTE_ORDER_MARK, line_end, line_start, splits_line_end
from intarsia.infill.syntax.parse import MAX_LINE_CHARS, parse

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
        return NoSuggestion(reason="the text holds NUL characters, so it looks binary")
    length = line_end(text, offset) - line_start(text, offset)
    if length <= MAX_LINE_CHARS:
        return None
    most = f"{MAX_LINE_CHARS:,} are the most"
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
                "name ranges that do not"
            )


def _snap(text: str, offset: int) -> int:
    """Step out of a CRLF, and past a byte order mark: nothing may be inserted before it."""
    if splits_line_end(text, offset):
        return offset - 1
    return 1 if offset == 0 and text.startswith(BYTE_ORDER_MARK) else offset
