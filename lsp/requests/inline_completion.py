"""``textDocument/inlineCompletion``: ghost text at the cursor, and ``intarsia/dismissed``.

An automatic request gets one item, one that the user invoked gets several. Items have the model's
confidence for clients that requested it.
"""

import msgspec
from lsprotocol import types

from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, sure_start
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.ghost_text import GhostText, RequestOutcome, imports_command
from intarsia.lsp.manners import Manners
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.protocol_extensions import AtPosition, read_own
from intarsia.lsp.requests.suggest import Suggester, SuggestOptions
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.snapshots import seen
from intarsia.lsp.suggestions import Suggestions


async def inline_completion(
    ls: IntarsiaServer, params: types.InlineCompletionParams
) -> "types.InlineCompletionList | ConfidentList | None":
    """Answer with items, or with null and a reason in the log and in the status."""
    session, context, uri = ls.session, params.context, params.text_document.uri
    suggester = session.feature(Suggester)
    snapshot = await seen(session, uri, params.position, context.selected_completion_info)
    if isinstance(snapshot, NoSuggestion):
        suggester.report(uri, RequestOutcome(reason=snapshot.reason))
        return None
    is_invoked = context.trigger_kind == types.InlineCompletionTriggerKind.Invoked
    outcome = await suggester.answer(snapshot, _options(snapshot, is_invoked=is_invoked))
    if outcome is None or not outcome.ghosts:
        return None
    if snapshot.extensions.confidence:
        return ConfidentList(tuple(confident_item(snapshot, ghost) for ghost in outcome.ghosts))
    workspace = ls.client_capabilities.workspace
    can_apply = workspace is not None and bool(workspace.apply_edit)
    items = [
        types.InlineCompletionItem(
            insert_text=snapshot.selected_text + ghost.text,
            range=snapshot.range_at_cursor(),
            command=imports_command(snapshot, ghost, can_apply=can_apply),
        )
        for ghost in outcome.ghosts
    ]
    return types.InlineCompletionList(items)


def _options(snapshot: Snapshot, *, is_invoked: bool) -> SuggestOptions:
    settings = snapshot.settings
    return SuggestOptions(
        num_candidates=settings.max_candidates if is_invoked else 1,
        is_debounced=not is_invoked,
        deadline_ms=settings.invoked_deadline_ms if is_invoked else settings.deadline_ms,
        shows_draft=snapshot.shows_drafts,
        shows_improbable=is_invoked,
        is_automatic=not is_invoked,
    )


class Confidence(msgspec.Struct, frozen=True, kw_only=True):
    """The item's text as ``tokens``, and ``sure``, its start up to the first unsure token."""

    tokens: tuple[ConfidentToken, ...]
    sure: str


class ConfidentItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """LSP's InlineCompletionItem with the property ``intarsia``, where confidences are known."""

    insert_text: str
    range: types.Range
    intarsia: Confidence | msgspec.UnsetType = msgspec.UNSET
    command: types.Command | msgspec.UnsetType = msgspec.UNSET


class ConfidentList(msgspec.Struct, frozen=True):
    """LSP's InlineCompletionList of such items."""

    items: tuple[ConfidentItem, ...]


def confident_item(snapshot: Snapshot, ghost: GhostText) -> ConfidentItem:
    """Return one item. A word that is selected in the client's menu is the user's own, so sure."""
    selected = snapshot.selected_text
    item = ConfidentItem(
        insert_text=selected + ghost.text,
        range=snapshot.range_at_cursor(),
        command=imports_command(snapshot, ghost, can_apply=True) or msgspec.UNSET,
    )
    if any(token.confidence is None for token in ghost.tokens):
        return item
    selected_tokens = (ConfidentToken(selected, 1.0),) if selected else ()
    confidence = Confidence(
        tokens=(*selected_tokens, *ghost.tokens),
        sure=selected + sure_start(ghost.tokens, snapshot.settings.sure_confidence),
    )
    return msgspec.structs.replace(item, intarsia=confidence)


def dismissed(ls: IntarsiaServer, params: object) -> None:
    """Record the dismissal of what is shown at a cursor, which LSP itself does not report."""
    told = read_own(params, AtPosition)
    document = ls.session.documents.current(told.text_document.uri)
    if document is not None:
        ls.session.feature(Suggestions).ahead.end()  # it fills what would have followed
        ls.session.feature(NextEdits).dismissed_suggestion()
        ls.session.feature(Manners).dismissed(document, told.position.as_lsp)
