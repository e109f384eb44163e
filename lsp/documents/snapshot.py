"""What one request sees: a document at one version, and the cursor in it.

It is taken before the first await; everything after works on the snapshot alone. A word that is
selected in the client's own menu counts as typed (LSP: ``selectedCompletionInfo``). The code of a
notebook's other cells is before and after that of the cell.
"""

from dataclasses import dataclass

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document, Documents


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """``text`` is the document's with ``selected`` inserted; ``offset`` is the cursor in it.

    The document's own text begins at ``document_start``: other cells of a notebook precede it.
    """

    document: Document
    text: str
    offset: int
    selected: types.SelectedCompletionInfo | None
    document_start: int = 0

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
        document, offset = self.document, self.offset - self.document_start
        return types.Range(
            start=document.position_at(offset - num_before), end=document.position_at(offset)
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
        return NoSuggestion(reason=documents.why_none(uri))
    text, offset = document.text, document.offset_at(position)
    if selected is not None:
        start = document.offset_at(selected.range.start)
        end = max(start, document.offset_at(selected.range.end))
        text, offset = text[:start] + selected.text + text[end:], start + len(selected.text)
    around = documents.text_around(uri)
    return Snapshot(
        document=document,
        text=around.before + text + around.after,
        offset=len(around.before) + offset,
        selected=selected,
        document_start=len(around.before),
    )
