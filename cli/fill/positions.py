"""Positions as people write them, LINE:COL from 1, to offsets in a text and back.

A column counts characters; lines end at LF, CRLF or CR, as editors count them.
"""

import re
from dataclasses import dataclass

from intarsia.cli.errors import CliError

_POSITION = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Position:
    """A place between two characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """From one place to another, which may be the same."""

    start: Position
    end: Position


def parse_position(word: str) -> Position:
    """Read ``LINE:COL``. Raises ValueError."""
    match = _POSITION.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} is no position: write LINE:COL, both from 1, as in 12:5")
    line, column = int(match[1]), int(match[2])
    if line < 1 or column < 1:
        raise ValueError(f"{word!r} is no position: lines and columns count from 1")
    return Position(line=line, column=column)


def parse_range(word: str) -> Range:
    """Read ``LINE:COL-LINE:COL``. Raises ValueError."""
    start, dash, end = word.partition("-")
    if not dash:
        raise ValueError(
            f"{word!r} is no range: write L:C-L:C, as in 12:5-12:20 (the same twice: any length)"
        )
    found = Range(start=parse_position(start), end=parse_position(end))
    if found.end < found.start:
        raise ValueError(f"{word!r} ends before it starts: swap the two positions")
    return found


def offset_of(text: str, position: Position) -> int:
    """Return the offset of a position. Raises CliError where the text has no such place."""
    start, end = _line_bounds(text, position.line)
    if position.column > end - start + 1:
        raise CliError(
            f"{position} is outside the text: line {position.line} has columns 1 to "
            f"{end - start + 1}; give a column in it"
        )
    return start + position.column - 1


def position_of(text: str, offset: int) -> Position:
    """Return the position of an offset."""
    line, start = 1, 0
    for match in _LINE_END.finditer(text):
        if match.end() > offset:
            break
        line, start = line + 1, match.end()
    return Position(line=line, column=offset - start + 1)


def range_of(text: str, start: int, end: int) -> Range:
    """Return the range between two offsets."""
    return Range(start=position_of(text, start), end=position_of(text, end))


def _line_bounds(text: str, line: int) -> tuple[int, int]:
    """Return where a line starts and where it ends, without its line end."""
    number, start = 1, 0
    for match in _LINE_END.finditer(text):
        if number == line:
            return start, match.start()
        number, start = number + 1, match.end()
    if number < line:
        raise CliError(
            f"line {line} is outside the text, which has {number} "
            f"{'line' if number == 1 else 'lines'}: give a line from 1 to {number}"
        )
    return start, len(text)
