"""``textDocument/inlineCompletion``: ghost text at the cursor.

Comes in: the request's parameters; goes out: one item for an automatic request, several for one
that the user asked for, or null.
"""

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshot import Snapshot, take_snapshot
from intarsia.lsp.suggest import Ask, suggest

if TYPE_CHECKING:
    from intarsia.lsp.server import IntarsiaServer

logger = logging.getLogger(__name__)


async def inline_completion(
    ls: "IntarsiaServer", params: types.InlineCompletionParams
) -> types.InlineCompletionList | None:
    """Answer with items, or with null and a reason in the log."""
    session, context = ls.session, params.context
    uri = params.text_document.uri
    snapshot = take_snapshot(
        session.documents, uri, params.position, context.selected_completion_info
    )
    if isinstance(snapshot, NoSuggestion):
        logger.info("no suggestion: %s", snapshot.reason)
        return None
    ask = _ask(session.settings, context.trigger_kind)
    ghosts = await session.latest.run(uri, suggest(session, snapshot, ask))
    if ghosts is None:
        return None  # a newer request of this document has taken its place
    if isinstance(ghosts, NoSuggestion):
        logger.info("no suggestion: %s", ghosts.reason)
        return None
    return types.InlineCompletionList([_item(snapshot, ghost) for ghost in ghosts])


def _ask(settings: Settings, kind: types.InlineCompletionTriggerKind) -> Ask:
    if kind == types.InlineCompletionTriggerKind.Invoked:
        return Ask(
            num_candidates=settings.max_candidates,
            debounce_ms=0,
            deadline_ms=settings.invoked_deadline_ms,
        )
    return Ask(num_candidates=1, debounce_ms=settings.debounce_ms, deadline_ms=settings.deadline_ms)


def _item(snapshot: Snapshot, ghost: str) -> types.InlineCompletionItem:
    return types.InlineCompletionItem(
        insert_text=snapshot.selected_text + ghost,
        range=snapshot.range_at_cursor(),
    )
