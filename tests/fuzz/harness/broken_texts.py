"""Pieces of texts that break what counts characters: line ends, surrogates, marks of code."""

from collections.abc import Sequence

from harness.byte_reader import ByteReader

CHARACTERS: Sequence[str] = (
    *("a", "b", " ", "\t", "\n", "\r", "\r\n", "\n\n", "\x0b", "\x0c", "\x1c", "\x85", "\0"),
    *("ß", "é", "e\u0301", "日", "😀", "\ud83d", "\ude00", "\U0001f468\u200d", "\u2028", "\ufeff"),
    *("\x7f", "\u07ff", "\u0800", "\uffff", "\U00010000", "\U0010ffff", "word", "\u202e"),
)


def text(reader: ByteReader, most: int = 32) -> str:
    """Return a text of up to ``most`` pieces."""
    return reader.pieces(CHARACTERS, most)
