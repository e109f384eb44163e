"""Converts LSP's lines and characters to offsets in a Python string and back, and applies changes.

Lines end at LF, CRLF or CR only; characters are UTF-8, UTF-16 or UTF-32 units. Positions outside
the text are clamped into it, as LSP demands. Knows nothing of documents.

A client may send an emoji in two changes, or change one half of it. Between the two, half a
character is in the text. It has no form in UTF-8, so nobody else gets it.

An editor sends "replace all" as thousands of changes. The text is a list of lines meanwhile, so
that a change costs no more than the lines that it touches.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Literal, NamedTuple, TypeAlias

from lsprotocol import types

from intarsia.engine.ipc.plain_json import as_meant

PositionEncoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]


def offset_at(
    text: str, starts: Sequence[int], position: types.Position, encoding: PositionEncoding
) -> int:
    """Return the offset of a position, at most the end of its line or of the text."""
    if position.line >= len(starts):
        return len(text)
    start = starts[position.line]
    line = text[start : _line_end(text, starts, position.line)]
    return start + column_at(line, position.character, encoding)


def position_at(
    text: str, starts: Sequence[int], offset: int, encoding: PositionEncoding
) -> types.Position:
    line = bisect_right(starts, offset) - 1
    return types.Position(line, num_units(text[starts[line] : offset], encoding))


def column_at(line: str, units: int, encoding: PositionEncoding) -> int:
    """Return the last column within ``units``; a character that does not fit whole is left out."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    columns = range(len(line) + 1)
    return bisect_right(columns, units, key=lambda end: num_units(line[:end], encoding)) - 1


def num_units(text: str, encoding: PositionEncoding) -> int:
    """Return how many units a text takes."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _line_end(text: str, starts: Sequence[int], line: int) -> int:
    if line + 1 == len(starts):
        return len(text)
    end = starts[line + 1] - 1
    is_crlf = text[end] == "\n" and end > starts[line] and text[end - 1] == "\r"
    return end - 1 if is_crlf else end


_HALF = re.compile("[\ud800-\udfff]")


def joined(text: str) -> str:
    """Return the text with each two halves of a pair as one character."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def readable(text: str) -> str:
    """Return the text with replacement characters for halves: as long in every encoding."""
    return str(as_meant(text))


def halves(character: str) -> tuple[str, str]:
    """Return the two halves of a character that UTF-16 has a pair for."""
    offset = ord(character) - 0x10000
    return chr(0xD800 + (offset >> 10)), chr(0xDC00 + (offset & 0x3FF))


def changed_text(
    text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: PositionEncoding
) -> str:
    """Return the text after the changes. Each one's positions are in the text before it.

    In UTF-16 a position may be within a character: then a change takes or leaves half of it.
    """
    lines = _lines(text)
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            lines = _lines(joined(change.text))
        else:
            _replace(lines, change.range, change.text, encoding)
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Return the lines with their line ends; the last one has none, and may be empty."""
    lines = list(StringIO(text, newline=""))  # which ends lines where LSP does
    return lines if lines and lines[-1][-1] not in "\r\n" else [*lines, ""]


def _replace(lines: list[str], where: types.Range, new: str, encoding: PositionEncoding) -> None:
    """Replace a range; one that ends before it starts is empty, at its start."""
    start = _place_at(lines, where.start, encoding)
    end = max(start, _place_at(lines, where.end, encoding))
    first, last = start.line, end.line
    middle = joined(_before(lines, start) + new + _after(lines, end))
    if middle.startswith("\n") and first > 0 and lines[first - 1].endswith("\r"):
        first -= 1  # the two are one line end now
        middle = lines[first] + middle
    is_inside = last + 1 < len(lines)
    lines[first : last + 1] = _lines(middle)[:-1] if is_inside else _lines(middle)


class _Place(NamedTuple):
    """A place in a list of lines."""

    line: int
    column: int
    is_half: bool = False  # within the character at the column


def _place_at(lines: list[str], position: types.Position, encoding: PositionEncoding) -> _Place:
    """Return the place of a position, at most the end of its line or of the text."""
    if position.line >= len(lines):
        return _Place(len(lines) - 1, len(lines[-1]))
    line = lines[position.line].rstrip("\r\n")
    column = column_at(line, position.character, encoding)
    is_half = (
        encoding == "utf-16"
        and column < len(line)
        and num_units(line[:column], encoding) < position.character
    )
    return _Place(position.line, column, is_half)


def _before(lines: list[str], place: _Place) -> str:
    line = lines[place.line]
    half = halves(line[place.column])[0] if place.is_half else ""
    return line[: place.column] + half


def _after(lines: list[str], place: _Place) -> str:
    rest = lines[place.line][place.column :]
    return halves(rest[0])[1] + rest[1:] if place.is_half else rest
