"""Draws values from the bytes of an input, so that any bytes are a structured test case."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

LARGEST = 2**31 - 1
"""Of the numbers in LSP's positions."""


class ByteReader:
    """Reads an input from its start. After its end, everything is 0 or the first choice."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def has_more(self) -> bool:
        """Whether bytes are left."""
        return self._at < len(self._data)

    def byte(self) -> int:
        """Return the next byte."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def number(self) -> int:
        """Return a number from 0 to ``LARGEST``, small in most cases."""
        first = self.byte()
        if first < 0xF0:
            return first % 24
        return min((self.byte() << 8 * (first % 4)) + self.byte(), LARGEST)

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of at most 256 choices."""
        return choices[self.byte() % len(choices)]

    def pieces(self, choices: Sequence[str], most: int) -> str:
        """Return up to ``most`` pieces, joined."""
        return "".join(self.pick(choices) for _ in range(self.byte() % (most + 1)))

    def bytes(self, num_bytes: int) -> bytes:
        """Return the next bytes, fewer at the end."""
        start, self._at = self._at, self._at + num_bytes
        return self._data[start : self._at]

    def rest(self) -> bytes:
        """Return all that is left."""
        return self.bytes(len(self._data))
