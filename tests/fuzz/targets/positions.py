"""Positions and offsets in all three encodings, against a reference that counts characters."""

from harness.broken_texts import text
from harness.byte_reader import ByteReader
from harness.target import Target
from lsprotocol.types import Position
from reference_text import ENCODINGS, slow_offset, slow_position

from intarsia.lsp.documents.positions import line_starts, offset_at, position_at

MAX_POSITIONS = 3


def check(data: bytes) -> None:
    """Convert a position to an offset, and this one back."""
    reader = ByteReader(data)
    encoding, written = reader.pick(ENCODINGS), text(reader)
    starts = line_starts(written)
    for _ in range(MAX_POSITIONS):
        position = Position(reader.number(), reader.number())
        offset = offset_at(written, starts, position, encoding)
        assert offset == slow_offset(written, position, encoding)
        back = position_at(written, starts, offset, encoding)
        assert back == slow_position(written, offset, encoding)
        if not reader.has_more:
            return


TARGET = Target(
    about="positions ↔ offsets, three encodings",
    check=check,
    seeds=[
        b"\x00\x08\x00\x0d\x06\x10\x11\x04\x12\x13\x01\x05\x00\x00\x01\x02",
        b"\x01\x05\x11\x11\x06\x12\x11\x00\x05\x01\x03",
        b"\x02\x0a" + bytes(range(12)) + b"\x02\x03\xff\x10",
    ],
    watched=["intarsia.lsp.documents.positions"],
    weight=300,
    max_bytes=96,
)
