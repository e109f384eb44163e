"""An inline completion that says how sure the model was, for clients that asked to know."""

from collections.abc import Sequence

import msgspec
from lsprotocol import types

from intarsia.infill.confidence import ConfidentToken, sure_start
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.suggestions.ghost_text import GhostText


class Confidence(msgspec.Struct, frozen=True, kw_only=True):
    """``tokens`` joined are the item's text; ``sure`` is its start up to the first unsure token."""

    tokens: tuple[ConfidentToken, ...]
    sure: str


class ConfidentItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """LSP's InlineCompletionItem with one more property."""

    insert_text: str
    range: types.Range
    intarsia: Confidence


class ConfidentList(msgspec.Struct, frozen=True):
    """LSP's InlineCompletionList of such items."""

    items: tuple[ConfidentItem, ...]


def confident_list(snapshot: Snapshot, ghosts: Sequence[GhostText], least: float) -> ConfidentList:
    """Return the ghost texts as items; a token of less confidence than ``least`` is unsure."""
    return ConfidentList(tuple(_item(snapshot, ghost, least) for ghost in ghosts))


def _item(snapshot: Snapshot, ghost: GhostText, least: float) -> ConfidentItem:
    """The word that the client's menu has selected is the user's own, and so sure."""
    selected = snapshot.selected_text
    own = (ConfidentToken(selected, 1.0),) if selected else ()
    return ConfidentItem(
        insert_text=selected + ghost.text,
        range=snapshot.range_at_cursor(),
        intarsia=Confidence(
            tokens=(*own, *ghost.tokens), sure=selected + sure_start(ghost.tokens, least)
        ),
    )
