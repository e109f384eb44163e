"""A document as an editor has it: the reference that the server's text must equal."""

from lsprotocol import types

UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

Edit = tuple[int, int, str]
"""Start and end offset, and the text that replaces what is between."""


class Document:
    """``cursor`` is an offset. Each edit returns the notification that tells the server of it."""

    def __init__(self, uri: str, text: str, encoding: str) -> None:
        self.uri = uri
        self.text = text
        self.version = 1
        self.cursor = len(text)
        self.undone: list[Edit] = []  # the newest last, each takes one edit back
        self._codec, self._unit_bytes = UNITS[encoding]

    def opening(self) -> types.DidOpenTextDocumentParams:
        """Return the opening of this text; versions begin at 1 again."""
        self.version = 1
        item = types.TextDocumentItem(self.uri, "python", 1, self.text)
        return types.DidOpenTextDocumentParams(item)

    def edit(self, *edits: Edit) -> types.DidChangeTextDocumentParams:
        """Make edits, one after the other, as one change; the cursor is after the last."""
        events: list[types.TextDocumentContentChangeEvent] = []
        for start, end, new in edits:
            where = types.Range(self.position(start), self.position(end))
            events.append(types.TextDocumentContentChangePartial(where, new))
            self.undone.append((start, start + len(new), self.text[start:end]))
            self.text = self.text[:start] + new + self.text[end:]
            self.cursor = start + len(new)
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        return types.DidChangeTextDocumentParams(identifier, events)

    def insert(self, text: str) -> types.DidChangeTextDocumentParams:
        return self.edit((self.cursor, self.cursor, text))

    def undo(self) -> types.DidChangeTextDocumentParams:
        change = self.edit(self.undone.pop())
        self.undone.pop()
        return change

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset, in the encoding agreed with the server."""
        start = self.text.rfind("\n", 0, offset) + 1
        num_units = len(self.text[start:offset].encode(self._codec)) // self._unit_bytes
        return types.Position(self.text.count("\n", 0, offset), num_units)

    def offset(self, at: types.Position) -> int:
        lines = self.text.split("\n")
        before = lines[at.line].encode(self._codec)[: at.character * self._unit_bytes]
        return sum(len(line) + 1 for line in lines[: at.line]) + len(before.decode(self._codec))
