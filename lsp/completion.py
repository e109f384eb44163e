"""``textDocument/completion``: the same suggestion as a menu item, for clients without ghost text.

The list is always incomplete, so that the client asks again as the user types.
"""

import logging
import re
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.snapshot import Snapshot, take_snapshot
from intarsia.lsp.suggest import Ask, suggest

if TYPE_CHECKING:
    from intarsia.lsp.server import IntarsiaServer

logger = logging.getLogger(__name__)

_HALF_WORD = re.compile(r"\w*\Z")
_MAX_LABEL = 60


async def completion(
    ls: "IntarsiaServer", params: types.CompletionParams
) -> types.CompletionList | None:
    """Answer with one item, or with an empty list and a reason in the log."""
    session = ls.session
    uri = params.text_document.uri
    snapshot = take_snapshot(session.documents, uri, params.position)
    if isinstance(snapshot, NoSuggestion):
        return _empty(snapshot)
    settings = session.settings
    ask = Ask(num_candidates=1, debounce_ms=settings.debounce_ms, deadline_ms=settings.deadline_ms)
    ghosts = await session.latest.run(uri, suggest(session, snapshot, ask))
    if ghosts is None:
        return None  # a newer request of this document has taken its place
    if isinstance(ghosts, NoSuggestion):
        return _empty(ghosts)
    return types.CompletionList(is_incomplete=True, items=[_item(snapshot, ghosts[0])])


def _item(snapshot: Snapshot, ghost: str) -> types.CompletionItem:
    """The item takes in the half word at the cursor: menus filter by it."""
    word = _half_word(snapshot)
    text = word + ghost
    return types.CompletionItem(
        label=_label(text),
        kind=types.CompletionItemKind.Text,
        detail="intarsia",
        documentation=text,
        filter_text=word or None,
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


def _label(text: str) -> str:
    first, *more = text.strip().splitlines()
    return first[:_MAX_LABEL] + ("…" if more or len(first) > _MAX_LABEL else "")


def _empty(why: NoSuggestion) -> types.CompletionList:
    logger.info("no suggestion: %s", why.reason)
    return types.CompletionList(is_incomplete=True, items=[])
