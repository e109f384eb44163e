"""``textDocument/completion``: the same suggestion as a menu item, for clients without ghost text.

The list is always incomplete, so that the client asks again as the user types.
"""

import re

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot, take_snapshot
from intarsia.lsp.requests.suggest import Ask, suggest
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.suggestions.answer import Answer
from intarsia.lsp.suggestions.ghost_text import GhostText

_HALF_WORD = re.compile(r"\w*\Z")
_NAME = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"[^\W\d]\w*\(")
_MAX_LABEL = 60


async def completion(
    ls: IntarsiaServer, params: types.CompletionParams
) -> types.CompletionList | None:
    """Answer with one item, or with an empty list and a reason in the log."""
    session = ls.session
    uri = params.text_document.uri
    snapshot = take_snapshot(session.documents, uri, params.position)
    if isinstance(snapshot, NoSuggestion):
        session.report(uri, Answer(reason=snapshot.reason))
        return _list([])
    settings = session.settings
    ask = Ask(num_candidates=1, debounce_ms=settings.debounce_ms, deadline_ms=settings.deadline_ms)
    answer = await session.latest.run(uri, suggest(session, snapshot, ask))
    if answer is None:
        return None  # a newer request of this document has taken its place
    session.report(uri, answer)
    return _list([_item(snapshot, ghost) for ghost in answer.ghosts[:1]])


def _item(snapshot: Snapshot, ghost: GhostText) -> types.CompletionItem:
    """The item takes in the half word at the cursor: menus filter by it."""
    word = _half_word(snapshot)
    text = word + ghost.text
    first_line = text.strip().splitlines()[0]
    return types.CompletionItem(
        label=_label(first_line, has_more=first_line != text.strip()),
        kind=_kind(text.strip()),
        detail="intarsia",
        documentation=text,
        filter_text=first_line,  # the half word alone would be dropped at the next letter
        sort_text="!",  # before any item that a language server sends
        preselect=True,
        insert_text_format=types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs,
        text_edit=types.TextEdit(range=snapshot.range_at_cursor(len(word)), new_text=text),
    )


def _half_word(snapshot: Snapshot) -> str:
    line_start = 1 + max(snapshot.text.rfind(end, 0, snapshot.offset) for end in "\r\n")
    found = _HALF_WORD.search(snapshot.text, line_start, snapshot.offset)
    return found.group() if found else ""


def _kind(text: str) -> types.CompletionItemKind:
    """Menus show the kind. Never ``Snippet``: Helix would expand and indent what is plain text."""
    if _NAME.fullmatch(text):
        return types.CompletionItemKind.Variable
    if _CALL.match(text):
        return types.CompletionItemKind.Function
    return types.CompletionItemKind.Text


def _label(first_line: str, *, has_more: bool) -> str:
    is_cut = has_more or len(first_line) > _MAX_LABEL
    return first_line[:_MAX_LABEL] + ("…" if is_cut else "")


def _list(items: list[types.CompletionItem]) -> types.CompletionList:
    return types.CompletionList(is_incomplete=True, items=items)
