"""Applies the content changes of one ``didChange`` in sequence, at the cost of one text.

An editor sends "replace all" as thousands of changes. The text is kept in chunks meanwhile: a
change rebuilds the chunks that it touches, and counts its way through the others.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lsprotocol import types

from intarsia.infill.syntax.lines import line_end, splits_line_end
from intarsia.lsp.documents.positions import PositionEncoding, column_at, halves, joined, num_units

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
