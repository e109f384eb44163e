"""``textDocument/completion``: the suggestion as a menu item, for clients without ghost text.

The list is always incomplete, so that the client asks again as the user types.
"""

import re

from lsprotocol import types

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.edits.workspace_edit import text_edit
from intarsia.lsp.ghost_text import GhostText, RequestOutcome, shown_imports
from intarsia.lsp.manners import Manners
from intarsia.lsp.requests.suggest import Suggester, SuggestOptions
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session
from intarsia.lsp.snapshots import seen

_HALF_WORD = re.compile(r"\w*\Z")
_NAME = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"[^\W\d]\w*\(")
_MAX_LABEL = 60


async def completion(
    ls: IntarsiaServer, params: types.CompletionParams
) -> types.CompletionList | None:
    """Answer with one item, or with an empty list and a reason in the log."""
    session, uri = ls.session, params.text_document.uri
    suggester = session.feature(Suggester)
    snapshot = await seen(session, uri, params.position)
    if isinstance(snapshot, NoSuggestion):
        suggester.report(uri, RequestOutcome(reason=snapshot.reason))
        return types.CompletionList(is_incomplete=True, items=[])
    options = SuggestOptions(
        num_candidates=1,
        is_debounced=True,
        deadline_ms=snapshot.settings.deadline_ms,
        is_automatic=_is_automatic(session, params),
    )
    outcome = await suggester.answer(snapshot, options)
    if outcome is None:
        return None
    items = [_item(snapshot, ghost) for ghost in outcome.ghosts[:1]]
    return types.CompletionList(is_incomplete=True, items=items)


def _is_automatic(session: Session, params: types.CompletionParams) -> bool:
    """Whether the editor asks by itself. It calls typing "invoked", too: a key came before that."""
    has_typed = session.feature(Manners).has_typed(params.text_document.uri)
    kind = params.context.trigger_kind if params.context is not None else None
    return has_typed or kind not in (None, types.CompletionTriggerKind.Invoked)


def _item(snapshot: Snapshot, ghost: GhostText) -> types.CompletionItem:
    """Return the item. It includes the half-typed word at the cursor: menus filter by that."""
    line_start = 1 + max(snapshot.text.rfind(end, 0, snapshot.offset) for end in "\r\n")
    match = _HALF_WORD.search(snapshot.text, line_start, snapshot.offset)
    word = match.group() if match else ""
    text = word + ghost.text
    first_line = text.strip().splitlines()[0]
    is_cut = first_line != text.strip() or len(first_line) > _MAX_LABEL
    return types.CompletionItem(
        label=first_line[:_MAX_LABEL] + ("…" if is_cut else ""),
        kind=_kind(text.strip()),
        detail="; ".join(("intarsia", *shown_imports(snapshot, ghost))),
        documentation=text,
        filter_text=first_line,  # with the half word alone, the next letter would drop the item
        sort_text="!",  # before the items of other language servers
        preselect=True,
        insert_text_format=types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs,
        text_edit=types.TextEdit(range=snapshot.range_at_cursor(len(word)), new_text=text),
        additional_text_edits=_import_text_edits(snapshot, ghost) or None,
    )


def _kind(text: str) -> types.CompletionItemKind:
    """Return the kind for menus. Never ``Snippet``: Helix would expand and indent the text."""
    if _NAME.fullmatch(text):
        return types.CompletionItemKind.Variable
    if _CALL.match(text):
        return types.CompletionItemKind.Function
    return types.CompletionItemKind.Text


def _import_text_edits(snapshot: Snapshot, ghost: GhostText) -> list[types.TextEdit]:
    """Return the edits of the snapshot's document that import what a suggestion needs."""
    document, at = snapshot.document, snapshot.place
    edits = import_edits(document.text, ghost.imports or (), at, document.language)
    return [text_edit(document, it) for it in edits]
