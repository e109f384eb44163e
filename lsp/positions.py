"""Converts LSP's lines and characters to offsets in a Python string and back, and applies changes.

Lines end at LF, CRLF or CR only; characters are UTF-8, UTF-16 or UTF-32 units. Positions outside
the text are clamped into it, as LSP demands. Knows nothing of documents.

A client may send an emoji in two changes, or change one half of it. Between the two, half a
character is in the text. It has no form in UTF-8, so nobody else gets it.

An editor sends "replace all" as thousands of changes. The text is kept in chunks meanwhile: a
change rebuilds the chunks that it touches, and counts its way through the others.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lsprotocol import types

from intarsia.engine.ipc.plain_json import as_meant
from intarsia.infill.syntax.text import line_end, splits_line_end

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


CHUNK_CHARS = 4_096


def changed_text(
    text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: PositionEncoding
) -> str:
    """Return the text after the changes. Each one's positions are in the text before it.

    In UTF-16 a position may be within a character: then a change takes or leaves half of it.
    """
    chunks = _ChunkedText(text, encoding)
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            chunks = _ChunkedText(joined(change.text), encoding)
        else:
            chunks.replace(change.range, change.text)
    return str(chunks)


class _Chunk:
    """Part of a text, never empty. None begins between CR and LF, or between halves of a pair."""

    __slots__ = ("_num_units", "num_line_ends", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.num_line_ends = _num_line_ends(text, len(text))
        self._num_units: int | None = None

    def num_units(self, encoding: PositionEncoding) -> int:
        """Count the units of the whole chunk, once."""
        if self._num_units is None:
            self._num_units = num_units(self.text, encoding)
        return self._num_units

    def line_start(self, number: int) -> int:
        """Return where the line after this number of line ends starts, by bisection."""
        offsets = range(len(self.text) + 1)
        start = bisect_left(offsets, number, key=lambda end: _num_line_ends(self.text, end))
        return start + splits_line_end(self.text, start)

    def line_end(self, offset: int) -> int:
        return line_end(self.text, offset) if self.num_line_ends else len(self.text)


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """An offset into a chunk; the end of a text is in the chunk after the last one."""

    index: int
    offset: int
    is_half: bool = False  # within the character at the offset


class _ChunkedText:
    """A text that is cheap to change, at positions of one encoding."""

    def __init__(self, text: str, encoding: PositionEncoding) -> None:
        self._chunks = list(_chunks_of(text))
        self._encoding = encoding

    def __str__(self) -> str:
        return "".join(chunk.text for chunk in self._chunks)

    def replace(self, where: types.Range, new: str) -> None:
        """Replace a range; one that ends before it starts is empty, at its start."""
        line = self._line(where.start.line)
        start = self._in_line(line, where.start.character)
        if where.end.line != where.start.line:
            line = self._line(where.end.line)
        end = max(start, self._in_line(line, where.end.character))
        first, last = start.index, end.index
        middle = self._before(start) + new + self._after(end)
        is_rest = middle[:1] in ("", "\n") or "\udc00" <= middle[:1] <= "\udfff"
        if first > 0 and (first == len(self._chunks) or is_rest):
            first -= 1  # do not leave a CR at its end alone, nor a small chunk after it
            middle = self._chunks[first].text + middle
        is_begun = middle[-1:] == "\r" or "\ud800" <= middle[-1:] <= "\udbff"
        if is_begun and last + 1 < len(self._chunks):
            last += 1
            middle += self._chunks[last].text
        self._chunks[first : last + 1] = _chunks_of(joined(middle))

    def _before(self, place: _Place) -> str:
        if place.is_half:
            text = self._chunks[place.index].text
            return text[: place.offset] + halves(text[place.offset])[0]
        return self._chunks[place.index].text[: place.offset] if place.offset else ""

    def _after(self, place: _Place) -> str:
        if place.index == len(self._chunks):
            return ""
        rest = self._chunks[place.index].text[place.offset :]
        return halves(rest[0])[1] + rest[1:] if place.is_half else rest

    def _line(self, number: int) -> _Place:
        """Return where a line starts, at most the end of the text."""
        for index, chunk in enumerate(self._chunks):
            if number <= chunk.num_line_ends:
                return _Place(index, chunk.line_start(number))
            number -= chunk.num_line_ends
        return _Place(len(self._chunks), 0)

    def _in_line(self, start: _Place, units: int) -> _Place:
        """Return the place ``units`` after the start of a line, at most the line's end."""
        offset = start.offset
        for index in range(start.index, len(self._chunks)):
            chunk = self._chunks[index]
            if offset == 0 and chunk.num_line_ends == 0:
                length = chunk.num_units(self._encoding)
                if units >= length:
                    units -= length
                    continue
            end = chunk.line_end(offset)
            line = chunk.text[offset:end]
            length = num_units(line, self._encoding)
            if units < length or end < len(chunk.text):
                column = column_at(line, units, self._encoding)
                is_half = (
                    self._encoding == "utf-16"
                    and column < len(line)
                    and num_units(line[:column], "utf-16") < units
                )
                return _Place(index, offset + column, is_half)
            units, offset = units - length, 0
        return _Place(len(self._chunks), 0)


def _num_line_ends(text: str, end: int) -> int:
    """Count the line ends in ``text[:end]``."""
    num_lf = text.count("\n", 0, end)
    num_cr = text.count("\r", 0, end)
    return num_lf + num_cr - (text.count("\r\n", 0, end) if num_cr else 0)


def _chunks_of(text: str) -> Iterator[_Chunk]:
    """Yield the text in chunks; the last one may have up to twice the usual length."""
    start = 0
    while start < len(text):
        end = start + CHUNK_CHARS
        if len(text) - end < CHUNK_CHARS:
            end = len(text)
        elif text[end - 1 : end + 1] == "\r\n":
            end += 1
        yield _Chunk(text[start:end])
        start = end
