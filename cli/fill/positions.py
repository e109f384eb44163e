"""Convert positions written as LINE:COL, from 1, to offsets in a text and back.

Columns count characters; lines end at LF, CRLF or CR, as in editors.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from intarsia.cli.errors import CliError
from intarsia.infill.syntax.text import line_end, line_starts

_POSITION = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Position:
    """A place between two characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """From one position to another or to the same."""

    start: Position
    end: Position


def parse_position(word: str) -> Position:
    """Parse ``LINE:COL``. Raise ValueError."""
    match = _POSITION.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} is not a position: write LINE:COL, both from 1, as in 12:5")
    line, column = int(match[1]), int(match[2])
    if line < 1 or column < 1:
        raise ValueError(f"{word!r} is not a position: lines and columns count from 1")
    return Position(line=line, column=column)


def parse_range(word: str) -> Range:
    """Parse ``LINE:COL-LINE:COL``. Raise ValueError."""
    start, dash, end = word.partition("-")
    if not dash:
        raise ValueError(
            f"{word!r} is not a range: write L:C-L:C, as in 12:5-12:20 (the same twice: any length)"
        )
    result = Range(start=parse_position(start), end=parse_position(end))
    if result.end < result.start:
        raise ValueError(f"{word!r} ends before it starts: swap the two positions")
    return result


def offset_of(text: str, position: Position) -> int:
    """Return the offset of a position. Raise CliError if it is outside the text."""
    starts = line_starts(text)
    if position.line > len(starts):
        raise CliError(
            f"line {position.line} is outside the text, which has {len(starts)} "
            f"{'line' if len(starts) == 1 else 'lines'}: give a line from 1 to {len(starts)}"
        )
    start = starts[position.line - 1]
    end = line_end(text, start)
    if position.column > end - start + 1:
        raise CliError(
            f"{position} is outside the text: line {position.line} has columns 1 to "
            f"{end - start + 1}; give a column in it"
        )
    return start + position.column - 1


def position_of(text: str, offset: int) -> Position:
    starts = line_starts(text)
    line = bisect_right(starts, offset)
    return Position(line=line, column=offset - starts[line - 1] + 1)


def range_of(text: str, start: int, end: int) -> Range:
    """Return the range between two offsets."""
    return Range(start=position_of(text, start), end=position_of(text, end))
