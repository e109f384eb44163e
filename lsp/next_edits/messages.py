"""The messages about next edits, to and from clients (docs/protocol.md)."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from lsprotocol import types

from intarsia.infill.next_edit.difference import difference
from intarsia.infill.next_edit.offer import Level
from intarsia.infill.next_edit.renaming import Rename
from intarsia.infill.syntax.text import replaced_range
from intarsia.lsp.documents import Document
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.next_edits.watched import Elsewhere
from intarsia.lsp.protocol_extensions import DocumentId

How: TypeAlias = Literal["accepted", "dismissed"]


class ChangedText(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A ``TextEdit``."""

    range: types.Range
    new_text: str


class AddedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text that an offer would put into a line."""

    position: types.Position
    text: str


class OfferedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The pieces of an offer to draw: within lines, and as new lines."""

    removed: tuple[types.Range, ...]
    added: tuple[AddedText, ...]
    block: tuple[str, ...]


class OfferedEdit(ChangedText, frozen=True, kw_only=True, rename="camel"):
    """An offer as clients know it. ``change`` is the least that has to be replaced."""

    id: str
    level: Level
    change: ChangedText
    difference: OfferedDifference


class UsesElsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """How many uses there are in how many other files."""

    files: int
    uses: int


class OfferedRename(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A rename that another language server can do instead of the offers, or we in other files.

    ``ranges`` are where the new name is; ``position`` is in the text with the old name back there.
    """

    old_name: str
    new_name: str
    ranges: tuple[types.Range, ...]
    position: types.Position
    elsewhere: UsesElsewhere | None = None


class OfferedEdits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of ``intarsia/nextEdits``: all offers of a version, best first.

    ``next``: where the last edit goes on, in another document, whose offers are a message of their
    own.
    """

    uri: str
    version: int
    edits: tuple[OfferedEdit, ...]
    rename: OfferedRename | None = None
    next: types.Location | None = None


class NextEditDone(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``intarsia/nextEditDone``."""

    uri: str
    id: str
    how: How


class Renaming(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``intarsia/renaming``."""

    state: Literal["begun", "done", "failed"]


class InlineEditParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The parameters of ``textDocument/copilotInlineEdit`` that are used."""

    text_document: DocumentId


class RenameArguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The argument of the command ``intarsia.renameInFiles``."""

    text_document: DocumentId
    apply: bool = True


class CommandArguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The argument of the command ``intarsia.nextEdit``. Without an id: the best offer."""

    text_document: DocumentId
    id: str | None = None


def offered_edits(
    document: Document,
    offers: Sequence[OpenOffer],
    rename: Rename | None,
    elsewhere: Elsewhere | None,
    next: types.Location | None = None,
) -> OfferedEdits:
    """Return the notification with the open offers of a document."""
    return OfferedEdits(
        uri=document.uri,
        version=document.version,
        edits=tuple(_offered_edit(document, offer) for offer in offers),
        rename=None if rename is None else _offered_rename(document, rename, elsewhere),
        next=next,
    )


def range_of(document: Document, offer: OpenOffer) -> types.Range:
    return types.Range(document.position_at(offer.start), document.position_at(offer.end))


def _offered_edit(document: Document, offer: OpenOffer) -> OfferedEdit:
    def position(at: int) -> types.Position:
        return document.position_at(offer.start + at)

    before = document.text[offer.start : offer.end]
    start, end, new_end = replaced_range(before, offer.text)
    drawn = difference(before, offer.text)
    return OfferedEdit(
        id=offer.id,
        range=range_of(document, offer),
        new_text=offer.text,
        level=offer.level,
        change=ChangedText(
            range=types.Range(position(start), position(end)), new_text=offer.text[start:new_end]
        ),
        difference=OfferedDifference(
            removed=tuple(types.Range(position(at), position(to)) for at, to in drawn.removed),
            added=tuple(AddedText(position=position(at), text=text) for at, text in drawn.added),
            block=tuple(drawn.block),
        ),
    )


def _offered_rename(
    document: Document, rename: Rename, elsewhere: Elsewhere | None
) -> OfferedRename:
    ends = (start + len(rename.new_name) for start in rename.starts)
    return OfferedRename(
        old_name=rename.old_name,
        new_name=rename.new_name,
        ranges=tuple(
            types.Range(document.position_at(start), document.position_at(end))
            for start, end in zip(rename.starts, ends, strict=True)
        ),
        position=document.with_text(rename.undone(document.text)).position_at(rename.asked_at),
        elsewhere=None
        if elsewhere is None
        else UsesElsewhere(files=elsewhere.files, uses=elsewhere.uses),
    )
