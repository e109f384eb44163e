"""The open documents as the client has them, kept up to date by didOpen, didChange and didClose.

Each version is a frozen ``Document``. A reader that keeps one keeps that version;
``current(uri) is document`` tells whether it is still the newest.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsprotocol import types

from intarsia.lsp.documents.positions import PositionEncoding, line_starts, offset_at, position_at

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Document:
    """One version of an open document."""

    uri: str
    language_id: str
    version: int
    encoding: PositionEncoding
    text: str
    line_starts: Sequence[int]
    is_edited: bool = False  # since it was opened

    def offset_at(self, position: types.Position) -> int:
        return offset_at(self.text, self.line_starts, position, self.encoding)

    def position_at(self, offset: int) -> types.Position:
        return position_at(self.text, self.line_starts, offset, self.encoding)

    def with_text(self, text: str) -> "Document":
        return replace(self, text=text, line_starts=line_starts(text))


class Documents:
    """Every open document at its newest version."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self.encoding: PositionEncoding = "utf-16"

    def current(self, uri: str) -> Document | None:
        return self._open.get(uri)

    def open(self, item: types.TextDocumentItem) -> None:
        self._open[item.uri] = Document(
            uri=item.uri,
            language_id=item.language_id,
            version=item.version,
            encoding=self.encoding,
            text=item.text,
            line_starts=line_starts(item.text),
        )

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        document = self._open.get(uri)
        if document is None:
            logger.warning("ignored a change of a document that is not open: %s", uri)
            return
        for change in params.content_changes:
            document = _apply(document, change)
        self._open[uri] = replace(document, version=params.text_document.version, is_edited=True)

    def close(self, uri: str) -> None:
        if self._open.pop(uri, None) is None:
            logger.warning("ignored the closing of a document that is not open: %s", uri)


def _apply(document: Document, change: types.TextDocumentContentChangeEvent) -> Document:
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return document.with_text(change.text)
    start = document.offset_at(change.range.start)
    end = max(start, document.offset_at(change.range.end))
    return document.with_text(document.text[:start] + change.text + document.text[end:])
