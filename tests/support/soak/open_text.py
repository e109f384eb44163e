"""A document as an editor has it: the reference that the server's text must equal."""

from collections import deque
from collections.abc import Sequence

from lsprotocol import types

UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
MAX_UNDO = 100

Edit = tuple[int, int, str]
"""Start and end offset, and the text that replaces what is between."""


class OpenText:
    """``cursor`` is an offset. Each edit returns the notification that tells the server of it."""

    def __init__(self, uri: str, text: str, encoding: str) -> None:
        self.uri = uri
        self.text = text
        self.encoding = encoding
        self.version = 1
        self.cursor = len(text)
        self._undo: deque[tuple[int, str, str]] = deque(maxlen=MAX_UNDO)

    def opened(self) -> types.DidOpenTextDocumentParams:
        """Return the opening of this text; versions begin at 1 again."""
        self.version = 1
        item = types.TextDocumentItem(self.uri, "python", 1, self.text)
        return types.DidOpenTextDocumentParams(item)

    def closed(self) -> types.DidCloseTextDocumentParams:
        """Return the closing of this document."""
        return types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri))

    def edit(self, *edits: Edit) -> types.DidChangeTextDocumentParams:
        """Make edits, one after the other, as one change; the cursor is after the last."""
        events: list[types.TextDocumentContentChangeEvent] = []
        for start, end, new in edits:
            where = types.Range(self.position(start), self.position(end))
            events.append(types.TextDocumentContentChangePartial(where, new))
            self._undo.append((start, self.text[start:end], new))
            self.text = self.text[:start] + new + self.text[end:]
            self.cursor = start + len(new)
        return self._changed(events)

    def insert(self, text: str) -> types.DidChangeTextDocumentParams:
        """Type or paste a text at the cursor."""
        return self.edit((self.cursor, self.cursor, text))

    def undo(self) -> types.DidChangeTextDocumentParams | None:
        """Take the last edit back; None where there is none."""
        if not self._undo:
            return None
        start, removed, inserted = self._undo.pop()
        change = self.edit((start, start + len(inserted), removed))
        self._undo.pop()
        return change

    def replace_all(self, text: str) -> types.DidChangeTextDocumentParams:
        """Replace the whole text, as a formatter or a reload from disk does."""
        self._undo.clear()
        self.text, self.cursor = text, len(text)
        return self._changed([types.TextDocumentContentChangeWholeDocument(text=text)])

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset, in the encoding agreed with the server."""
        codec, size = UNITS[self.encoding]
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.text.count("\n", 0, offset)
        return types.Position(line, len(self.text[start:offset].encode(codec)) // size)

    def offset(self, at: types.Position) -> int:
        """Return the offset of a position."""
        codec, size = UNITS[self.encoding]
        lines = self.text.split("\n")
        before = lines[at.line].encode(codec)[: at.character * size].decode(codec)
        return sum(len(line) + 1 for line in lines[: at.line]) + len(before)

    def _changed(
        self, events: Sequence[types.TextDocumentContentChangeEvent]
    ) -> types.DidChangeTextDocumentParams:
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        return types.DidChangeTextDocumentParams(identifier, list(events))
