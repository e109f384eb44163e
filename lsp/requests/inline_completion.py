"""``textDocument/inlineCompletion``: ghost text at the cursor.

An automatic request gets one item, one that the user invoked gets several.
"""

import time

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot, take_snapshot
from intarsia.lsp.requests.automatic import note_answer, silent_outcome
from intarsia.lsp.requests.confidence_items import ConfidentList, confident_list
from intarsia.lsp.requests.ghost_imports import imports_command
from intarsia.lsp.requests.look_ahead import look_ahead
from intarsia.lsp.requests.suggest import SuggestOptions, suggest
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions.ghost_text import GhostText
from intarsia.lsp.suggestions.request_outcome import RequestOutcome


async def inline_completion(
    ls: IntarsiaServer, params: types.InlineCompletionParams
) -> types.InlineCompletionList | ConfidentList | None:
    """Answer with items, or with null and a reason in the log and in the status."""
    asked_at = time.monotonic()
    session, context = ls.session, params.context
    uri = params.text_document.uri
    snapshot = take_snapshot(
        session.documents, uri, params.position, context.selected_completion_info
    )
    if isinstance(snapshot, NoSuggestion):
        session.report(uri, RequestOutcome(reason=snapshot.reason))
        return None
    await session.settings_requests.settled()
    is_invoked = context.trigger_kind == types.InlineCompletionTriggerKind.Invoked
    if not is_invoked and (silent := silent_outcome(session, snapshot)):
        session.report(uri, silent)
        return None
    options = _options(session, snapshot, is_invoked=is_invoked)
    outcome = await session.latest.run(uri, suggest(session, snapshot, options))
    if outcome is None:
        return None  # a newer request of this document replaced it
    session.report(uri, outcome)
    note_answer(session, snapshot, outcome)
    look_ahead(session, snapshot, outcome, asked_at=asked_at)
    if not outcome.ghosts:
        return None
    if session.extensions.confidence:
        return confident_list(snapshot, outcome.ghosts, session.settings.sure_confidence)
    can_apply = any(ghost.imports for ghost in outcome.ghosts) and _can_apply_edits(ls)
    items = [_item(snapshot, ghost, can_apply=can_apply) for ghost in outcome.ghosts]
    return types.InlineCompletionList(items)


def _can_apply_edits(ls: IntarsiaServer) -> bool:
    workspace = ls.client_capabilities.workspace
    return workspace is not None and bool(workspace.apply_edit)


def _options(session: Session, snapshot: Snapshot, *, is_invoked: bool) -> SuggestOptions:
    """Return the options. No draft fits beside a selected word of the client's own menu."""
    settings = session.settings
    return SuggestOptions(
        num_candidates=settings.max_candidates if is_invoked else 1,
        debounce_ms=0 if is_invoked else session.manners.debounce_ms(snapshot.document),
        deadline_ms=settings.invoked_deadline_ms if is_invoked else settings.deadline_ms,
        shows_draft=session.extensions.drafts and settings.drafts and snapshot.selected is None,
        shows_improbable=is_invoked,
    )


def _item(snapshot: Snapshot, ghost: GhostText, *, can_apply: bool) -> types.InlineCompletionItem:
    return types.InlineCompletionItem(
        insert_text=snapshot.selected_text + ghost.text,
        range=snapshot.range_at_cursor(),
        command=imports_command(snapshot, ghost, can_apply=can_apply),
    )
