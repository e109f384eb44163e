"""The content changes of one ``didChange``, in all encodings, against a reference text."""

from harness.broken_texts import text
from harness.byte_reader import ByteReader
from harness.target import Target
from lsprotocol import types
from reference_text import ENCODINGS, slowly_changed

from intarsia.lsp.documents import content_changes

CHUNK_CHARS = (1, 2, 3, 7, 4_096)
MAX_CHANGES = 8


def check(data: bytes) -> None:
    """Apply changes to a text that is kept in chunks of any length."""
    reader = ByteReader(data)
    encoding, chunk_chars = reader.pick(ENCODINGS), reader.pick(CHUNK_CHARS)
    before, changes = text(reader), list[types.TextDocumentContentChangeEvent]()
    while reader.has_more and len(changes) < MAX_CHANGES:
        changes.append(read_change(reader))
    usual, content_changes.CHUNK_CHARS = content_changes.CHUNK_CHARS, chunk_chars
    try:
        after = content_changes.changed_text(before, changes, encoding)
    finally:
        content_changes.CHUNK_CHARS = usual
    assert after == slowly_changed(before, changes, encoding)


def read_change(reader: ByteReader) -> types.TextDocumentContentChangeEvent:
    """Return a change of a range, or rarely of the whole text."""
    if reader.byte() == 0xFF:
        return types.TextDocumentContentChangeWholeDocument(text=text(reader))
    start = types.Position(reader.number(), reader.number())
    end = types.Position(reader.number(), reader.number())
    new = text(reader, 12)
    return types.TextDocumentContentChangePartial(range=types.Range(start, end), text=new)


TARGET = Target(
    about="content changes of one notification, three encodings",
    check=check,
    seeds=[
        b"\x01\x02\x08\x00\x0d\x06\x10\x11\x04\x12\x13\x01\x00\x00\x01\x01\x03\x05\x11\x04",
        b"\x00\x00\x05\x04\x05\x06\x04\x05\x01\x01\x00\x01\x05\x01\x04\xff\x03\x11\x10\x06",
        b"\x02\x03" + bytes(range(60)),
    ],
    watched=["intarsia.lsp.documents.content_changes", "intarsia.lsp.documents.positions"],
    weight=50,
    max_bytes=128,
)
