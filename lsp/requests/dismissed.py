"""``intarsia/dismissed``: the user has dismissed a suggestion. LSP itself does not tell."""

import msgspec
from lsprotocol import types

from intarsia.lsp.own_params import read_own
from intarsia.lsp.server import IntarsiaServer


class _Document(msgspec.Struct, frozen=True):
    uri: str


class Dismissed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the cursor was."""

    text_document: _Document
    position: types.Position


def dismissed(ls: IntarsiaServer, params: object) -> None:
    """Take the dismissal of what is shown in a document; it is shown no more after the third."""
    told = read_own(params, Dismissed)
    document = ls.session.documents.current(told.text_document.uri)
    if document is not None:
        ls.session.manners.dismissed(document, told.position)
