"""Looks for the repair of one place in one version of a document.

Needs the infill package's grammars, so the server imports it on first use. When the document
changes, it stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from intarsia.engine.ipc.messages import Fill, Filled, ScoreTexts, TextScores
from intarsia.infill.filling.options import OnStep
from intarsia.infill.repair.find_repair import Asking, Repair, find_repair
from intarsia.infill.repair.proposals_at import find_proposals
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.fill_options import language_of, options_of
from intarsia.lsp.session import Session

LIMIT_S = 15.0
"""After this time there is no repair, with a reason."""

STALE = NoSuggestion(reason="the document has changed: ask again")
TOO_SLOW = NoSuggestion(reason="the search for a repair took too long")

_T = TypeVar("_T")


async def compute_repair(
    session: Session, document: Document, start: int, end: int
) -> Repair | NoSuggestion:
    """Return the repair of the error at a range of a document, or why there is none."""
    if refusal := session.refusal(document):
        return refusal
    try:
        async with asyncio.timeout(LIMIT_S):
            return await _compute(session, document, start, end)
    except TimeoutError:
        return TOO_SLOW


async def _compute(
    session: Session, document: Document, start: int, end: int
) -> Repair | NoSuggestion:
    language = language_of(document)
    found = await asyncio.to_thread(find_proposals, document.text, start, end, language)
    if isinstance(found, NoSuggestion):
        return found
    settings = session.settings_of(document)
    options = options_of(settings, settings.invoked_deadline_ms)

    async def fill(request: Fill, on_step: OnStep | None = None) -> Filled | NoSuggestion:
        return await while_current(lambda: session.engine.fill(request, on_step))

    async def scores(request: ScoreTexts) -> TextScores | NoSuggestion:
        return await while_current(lambda: session.engine.score_texts(request))

    async def while_current(ask: Callable[[], Awaitable[_T]]) -> _T | NoSuggestion:
        if session.documents.current(document.uri) is not document:
            return STALE
        answer = await ask()
        return answer if session.documents.current(document.uri) is document else STALE

    options = replace(options, is_background=True)  # a suggestion while typing goes first
    return await find_repair(Asking(fill=fill, scores=scores, options=options), found)
