"""What one request sees: a document at one version, the cursor in it, and what counts for it.

All is resolved once. Whoever answers the request goes by this value alone, and asks only whether
it is still current. A word that is selected in the client's own menu counts as typed (LSP:
``selectedCompletionInfo``). The code of a notebook's other cells is before and after the cell's.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from lsprotocol import types

from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document, Documents
from intarsia.lsp.protocol_extensions import Extensions
from intarsia.lsp.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """``text`` is the document's with ``selected`` inserted; ``offset`` is the cursor in it.

    The document's own text begins at ``document_start``: other cells of a notebook precede it.
    """

    document: Document
    text: str
    offset: int
    selected: types.SelectedCompletionInfo | None = None
    document_start: int = 0
    language: Language
    settings: Settings  # the document's
    refusal: NoSuggestion | None = None  # why the document gets no suggestions
    extensions: Extensions = field(default_factory=Extensions)  # that the client requested
    taken_at: float = field(default_factory=time.monotonic)

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
        document, offset = self.document, self.place
        return types.Range(
            start=document.position_at(offset - num_before), end=document.position_at(offset)
        )

    @property
    def place(self) -> int:
        """The cursor in the document's own text."""
        return self.offset - self.document_start

    @property
    def shows_drafts(self) -> bool:
        """Whether drafts are shown. None fits beside a selected word of the client's own menu."""
        return self.extensions.drafts and self.settings.drafts and self.selected is None


def seen_text(
    document: Document,
    documents: Documents,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None,
) -> tuple[str, int, int]:
    """Return a snapshot's text, the cursor in it, and where the document's own text begins."""
    text, offset = document.text, document.offset_at(position)
    if selected is not None:
        start = document.offset_at(selected.range.start)
        end = max(start, document.offset_at(selected.range.end))
        text, offset = text[:start] + selected.text + text[end:], start + len(selected.text)
    around = documents.text_around(document.uri)
    start = len(around.before)
    return around.before + text + around.after, start + offset, start


MAX_CHARS_ON_LOOP = 100_000

T = TypeVar("T")


async def read_text(text: str, work: Callable[[], T]) -> T:
    """Return what ``work`` makes of the text; it runs in a thread if the text is long."""
    return await asyncio.to_thread(work) if len(text) > MAX_CHARS_ON_LOOP else work()


async def parse_if_long(text: str, offset: int, language: Language) -> None:
    """Have a long text parsed. Planning a fill at this offset then finds it parsed."""
    if len(text) > MAX_CHARS_ON_LOOP:
        await asyncio.to_thread(partial(_parse, text, offset, language))


def _parse(text: str, offset: int, language: Language) -> None:
    from intarsia.infill.syntax.embedded_code import code_at
    from intarsia.infill.syntax.parse import parse

    code = code_at(text, offset, offset, language)
    parse(text, language)
    parse(code.text, code.language)
