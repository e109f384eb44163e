"""What one request sees: a document at one version, and the cursor in it.

It is taken before the first await; everything after works on the snapshot alone. A word that is
selected in the client's own menu counts as typed (LSP: ``selectedCompletionInfo``).
"""

from dataclasses import dataclass

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document, Documents


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """``text`` is the document's with ``selected`` inserted; ``offset`` is the cursor in it."""

    document: Document
    text: str
    offset: int
    selected: types.SelectedCompletionInfo | None

    def is_current(self, documents: Documents) -> bool:
        """Whether this is still the newest version of the document."""
        return documents.current(self.document.uri) is self.document

    @property
    def selected_text(self) -> str:
        return self.selected.text if self.selected else ""

    def range_at_cursor(self, num_before: int = 0) -> types.Range:
        """Return the client's range from ``num_before`` characters before the cursor to the cursor.

        With a word selected in the client's menu it is that word's range, as LSP demands.
        """
        if self.selected is not None:
            return self.selected.range
        document = self.document
        return types.Range(
            start=document.position_at(self.offset - num_before),
            end=document.position_at(self.offset),
        )


def take_snapshot(
    documents: Documents,
    uri: str,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None = None,
) -> Snapshot | NoSuggestion:
    """Return the document and cursor of a request, or why there are none."""
    document = documents.current(uri)
    if document is None:
        return NoSuggestion(reason="the document is not open")
    if selected is None:
        offset = document.offset_at(position)
        return Snapshot(document=document, text=document.text, offset=offset, selected=None)
    return _with_selected(document, selected)


def _with_selected(document: Document, selected: types.SelectedCompletionInfo) -> Snapshot:
    start = document.offset_at(selected.range.start)
    end = max(start, document.offset_at(selected.range.end))
    text = document.text[:start] + selected.text + document.text[end:]
    offset = start + len(selected.text)
    return Snapshot(document=document, text=text, offset=offset, selected=selected)
