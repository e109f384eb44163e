"""Next edits for every kind of client: our notifications, a command, and Copilot's request.

``textDocument/copilotInlineEdit`` is the dialect of copilot-language-server, which plugins for
Neovim and Emacs speak: https://github.com/github/copilot-language-server-release
"""

import asyncio
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.infill.next_edit.offer import LEVELS
from intarsia.lsp.documents import Document
from intarsia.lsp.edits.offered_edit import offered_workspace_edit, rename_edit
from intarsia.lsp.edits.workspace_edit import apply_edit, shape_for
from intarsia.lsp.next_edits.messages import (
    CommandArguments,
    InlineEditParams,
    NextEditDone,
    RenameArguments,
    Renaming,
    range_of,
)
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.protocol_extensions import read_argument, read_own
from intarsia.lsp.server import IntarsiaServer

LONGEST_WAIT_S = 15.0
"""A client that asks for an inline edit gets an answer, even if it cannot be looked at now."""


def next_edit_done(ls: IntarsiaServer, params: object) -> None:
    """Record what the user did with an offer; an accepted one is known by the change it made."""
    done = read_own(params, NextEditDone)
    if done.how == "dismissed":
        ls.session.feature(NextEdits).dismiss(done.uri, done.id)


def renaming(ls: IntarsiaServer, params: object) -> None:
    """Look at no change while the client has another language server rename everywhere."""
    state = read_own(params, Renaming).state
    if state == "begun":
        ls.session.feature(NextEdits).hold()
    else:
        ls.session.feature(NextEdits).release(is_renamed=state == "done")


def ignore(ls: IntarsiaServer, params: object) -> None:
    """Accept a notification of Copilot's dialect that changes nothing here."""


async def copilot_inline_edit(ls: IntarsiaServer, params: object) -> Any:
    """Answer with the best offer for this version, once it has been looked at.

    One edit only: some clients take several as alternatives, others apply all.
    """
    asked = read_own(params, InlineEditParams).text_document
    next_edits, documents = ls.session.feature(NextEdits), ls.session.documents
    document = documents.current(asked.uri)
    if document is None or asked.version not in (None, document.version):
        return {"edits": []}
    try:
        async with asyncio.timeout(LONGEST_WAIT_S):
            await next_edits.settled(asked.uri)
    except TimeoutError:
        return {"edits": []}
    if documents.current(asked.uri) is not document:
        return {"edits": []}
    return {"edits": [_inline_edit(document, it) for it in next_edits.offers_of(asked.uri)[:1]]}


def _inline_edit(document: Document, offer: OpenOffer) -> dict[str, Any]:
    return {
        "text": offer.text,
        "range": range_of(document, offer),
        "textDocument": {"uri": document.uri, "version": document.version},
    }


async def execute_next_edit(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """Apply the best offer of a document, or the one with this id, and show its place.

    Answers ``{"applied", "reason"}``. Raises JsonRpcInvalidParams for bad arguments.
    """
    asked = read_argument(params, CommandArguments)
    uri = asked.text_document.uri
    document = ls.session.documents.current(uri)
    offers = ls.session.feature(NextEdits).offers_of(uri)
    chosen = [offer for offer in offers if asked.id in (None, offer.id)]
    if document is None or not chosen:
        return {"applied": False, "reason": "there is no next edit now"}
    offer = min(chosen, key=lambda it: LEVELS[it.level])
    edit = offered_workspace_edit(ls.client_capabilities, document, offer)
    reason = await apply_edit(ls, edit, "Next edit")
    if reason is None:
        await _show(ls, document, offer)
    return {"applied": reason is None, "reason": reason}


async def execute_rename(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """Rename in all files what the last edit of a document began to rename.

    Answers ``{"applied", "edit", "reason"}``. Raises JsonRpcInvalidParams for bad arguments.
    """
    asked = read_argument(params, RenameArguments)
    next_edits, documents = ls.session.feature(NextEdits), ls.session.documents
    document = documents.current(asked.text_document.uri)
    rename = None if document is None else next_edits.rename_in(document)
    files = () if document is None else await next_edits.uses_elsewhere(document)
    if document is None or rename is None or documents.current(document.uri) is not document:
        return {"applied": False, "edit": None, "reason": "there is nothing to rename now"}
    here = next_edits.uses_here(document, rename)
    shape = shape_for(ls.client_capabilities, needs_confirmation=False)
    shape = shape if asked.apply else shape.versioned()
    edit = rename_edit(shape, documents, (document, here), files)
    if not asked.apply:
        return {"applied": False, "edit": edit, "reason": None}
    next_edits.hold()
    reason = await apply_edit(ls, edit, f"Rename {rename.old_name} to {rename.new_name}")
    next_edits.release(is_renamed=reason is None)
    return {"applied": reason is None, "edit": edit, "reason": reason}


async def _show(ls: IntarsiaServer, document: Document, offer: OpenOffer) -> None:
    """Put the cursor at the place, where the client can."""
    window = ls.client_capabilities.window
    if window is None or window.show_document is None or not window.show_document.support:
        return
    start = document.position_at(offer.start)
    params = types.ShowDocumentParams(
        uri=document.uri, take_focus=True, selection=types.Range(start, start)
    )
    try:
        await asyncio.shield(ls.window_show_document_async(params))
    except JsonRpcException:
        return  # the edit is made, and the editor shows it where it likes
