"""``textDocument/inlineCompletion``: ghost text at the cursor.

Comes in: the request's parameters; goes out: one item for an automatic request, several for one
that the user asked for, or null.
"""

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot, take_snapshot
from intarsia.lsp.requests.confidence_items import ConfidentList, confident_list
from intarsia.lsp.requests.suggest import Ask, suggest
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions.answer import Answer
from intarsia.lsp.suggestions.ghost_text import GhostText


async def inline_completion(
    ls: IntarsiaServer, params: types.InlineCompletionParams
) -> types.InlineCompletionList | ConfidentList | None:
    """Answer with items, or with null and a reason in the log and in the status."""
    session, context = ls.session, params.context
    uri = params.text_document.uri
    snapshot = take_snapshot(
        session.documents, uri, params.position, context.selected_completion_info
    )
    if isinstance(snapshot, NoSuggestion):
        session.report(uri, Answer(reason=snapshot.reason))
        return None
    ask = _ask(session, snapshot, context.trigger_kind)
    answer = await session.latest.run(uri, suggest(session, snapshot, ask))
    if answer is None:
        return None  # a newer request of this document has taken its place
    session.report(uri, answer)
    if not answer.ghosts:
        return None
    if session.extensions.confidence:
        return confident_list(snapshot, answer.ghosts, session.settings.sure_confidence)
    return types.InlineCompletionList([_item(snapshot, ghost) for ghost in answer.ghosts])


def _ask(session: Session, snapshot: Snapshot, kind: types.InlineCompletionTriggerKind) -> Ask:
    """While the client's own menu has a word selected, a draft would have nowhere to be drawn."""
    settings = session.settings
    is_invoked = kind == types.InlineCompletionTriggerKind.Invoked
    return Ask(
        num_candidates=settings.max_candidates if is_invoked else 1,
        debounce_ms=0 if is_invoked else settings.debounce_ms,
        deadline_ms=settings.invoked_deadline_ms if is_invoked else settings.deadline_ms,
        shows_draft=session.extensions.drafts and settings.drafts and snapshot.selected is None,
    )


def _item(snapshot: Snapshot, ghost: GhostText) -> types.InlineCompletionItem:
    return types.InlineCompletionItem(
        insert_text=snapshot.selected_text + ghost.text,
        range=snapshot.range_at_cursor(),
    )
