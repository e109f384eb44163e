"""Inline completions with the model's confidence, for clients that requested it."""

from collections.abc import Sequence

import msgspec
from lsprotocol import types

from intarsia.infill.confidence import ConfidentToken, sure_start
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.requests.ghost_imports import imports_command
from intarsia.lsp.suggestions.ghost_text import GhostText


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


def confident_list(
    snapshot: Snapshot, ghosts: Sequence[GhostText], threshold: float
) -> ConfidentList:
    """Return the ghost texts as items; a token below the threshold is unsure."""
    return ConfidentList(tuple(_item(snapshot, ghost, threshold) for ghost in ghosts))


def _item(snapshot: Snapshot, ghost: GhostText, threshold: float) -> ConfidentItem:
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
        sure=selected + sure_start(ghost.tokens, threshold),
    )
    return msgspec.structs.replace(item, intarsia=confidence)
