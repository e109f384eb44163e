"""Has the engine read the context at the resting cursor in idle time, for a later suggestion.

LSP has no message for the cursor, but editors with a light bulb request code actions wherever it
rests. Only edited documents are read ahead, so that reading code costs nothing. What is read is
what a request there would send: at a new place the window of a first answer.
"""

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.long_texts import parse_if_long
from intarsia.lsp.documents.snapshot import take_snapshot

if TYPE_CHECKING:
    from intarsia.lsp.session import Session

logger = logging.getLogger(__name__)


async def prefetch(session: "Session", uri: str, position: types.Position) -> None:
    """Have the engine read the context at a position of an edited document; log errors."""
    try:
        await _prefetch(session, uri, position)
    except Exception:  # the user did not request it
        logger.exception("reading ahead failed")


async def _prefetch(session: "Session", uri: str, position: types.Position) -> None:
    from intarsia.lsp.fill_options import language_of
    from intarsia.lsp.requests.plan import plan_ahead, request_for

    document = session.documents.current(uri)
    if document is None or not document.is_edited or not session.settings.prefetch:
        return
    if session.settings_requests.is_open or session.refusal(document):
        return
    snapshot = take_snapshot(session.documents, uri, position)
    if isinstance(snapshot, NoSuggestion):
        return
    await parse_if_long(snapshot.text, snapshot.offset, language_of(document))
    if not snapshot.is_current(session.documents):
        return
    plan = plan_ahead(session, snapshot)
    if isinstance(plan, NoSuggestion):
        return
    settings = session.settings_of(document)
    fill = request_for(plan, settings, settings.deadline_ms)
    session.engine.prefetch_hole(fill, session.project_of(snapshot))
