"""The cursor has come to rest → the engine reads in idle time what a suggestion there would read.

LSP has no message for the cursor: editors that show a light bulb ask for code actions wherever it
goes. Only where the user has written is read ahead, so that reading code costs nothing.
"""

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.eligibility import ineligibility
from intarsia.lsp.documents.snapshot import take_snapshot

if TYPE_CHECKING:
    from intarsia.lsp.session import Session

logger = logging.getLogger(__name__)


def prefetch(session: "Session", uri: str, position: types.Position) -> None:
    """Tell the engine of a place in an open document that was edited; nothing comes of a fault."""
    try:
        _read_ahead(session, uri, position)
    except Exception:  # nobody has asked for it
        logger.exception("reading ahead failed")


def _read_ahead(session: "Session", uri: str, position: types.Position) -> None:
    from intarsia.engine.ipc.messages import Prefetch
    from intarsia.lsp.requests.plan import plan_suggestion, request_for

    document = session.documents.current(uri)
    if document is None or not document.is_edited or not session.settings.prefetch:
        return
    if ineligibility(session.settings, document):
        return
    snapshot = take_snapshot(session.documents, uri, position)
    if isinstance(snapshot, NoSuggestion):
        return
    plan = plan_suggestion(snapshot, session.settings)
    if isinstance(plan, NoSuggestion):
        return
    fill = request_for(plan, session.settings, session.settings.deadline_ms)
    session.engine.prefetch(
        Prefetch(prefix=fill.prefix, suffix=fill.suffix, given=fill.given, model=fill.model)
    )
