"""Takes the snapshot that a request answers from, and reads and parses long texts in a thread.

All of a snapshot is resolved here, once, under the settings that are in force now.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from lsprotocol import types

from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.tree import parse
from intarsia.lsp.documents.documents import Document, Snapshot
from intarsia.lsp.documents.eligibility import ineligibility
from intarsia.lsp.session import Session


async def seen(
    session: Session,
    uri: str,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None = None,
) -> Snapshot | NoSuggestion:
    """Return what a request sees of a document as it is now, once its settings are known."""
    document = session.documents.current(uri)
    if document is None:
        return NoSuggestion(reason=session.documents.why_none(uri))
    await session.settings_requests.settled()
    return snapshot_of(session, document, position, selected)


def snapshot_of(
    session: Session,
    document: Document,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None = None,
) -> Snapshot:
    """Return what is seen of a document at a position."""
    text, offset = document.text, document.offset_at(position)
    if selected is not None:
        start = document.offset_at(selected.range.start)
        end = max(start, document.offset_at(selected.range.end))
        text, offset = text[:start] + selected.text + text[end:], start + len(selected.text)
    around = session.documents.text_around(document.uri)
    return Snapshot(
        document=document,
        text=around.before + text + around.after,
        offset=len(around.before) + offset,
        selected=selected,
        document_start=len(around.before),
        language=document.language,
        settings=session.in_force.of(document),
        refusal=refusal_of(session, document),
        extensions=session.extensions,
    )


def refusal_of(session: Session, document: Document) -> NoSuggestion | None:
    """Return why a document gets no suggestions, None where it gets them."""
    return ineligibility(session.in_force.of(document), document, session.in_force.folders)


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
    code = code_at(text, offset, offset, language)
    parse(text, language)
    parse(code.text, code.language)
