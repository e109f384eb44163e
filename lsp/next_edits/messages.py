"""What clients send and are sent about next edits (docs/protocol.md)."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from intarsia.infill.next_edit.show_rule import Level
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.next_edits.open_offers import OpenOffer

_Message = TypeVar("_Message", bound=msgspec.Struct)

How: TypeAlias = Literal["accepted", "dismissed"]


class OfferedEdit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An offer as clients know it."""

    id: str
    range: types.Range
    new_text: str
    level: Level


class OfferedEdits(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``intarsia/nextEdits``: all offers of a version, best first."""

    uri: str
    version: int
    edits: tuple[OfferedEdit, ...]


class NextEditDone(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``intarsia/nextEditDone``."""

    uri: str
    id: str
    how: How


class _Document(msgspec.Struct, frozen=True):
    uri: str
    version: int | None = None


class InlineEditParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The parameters of ``textDocument/copilotInlineEdit`` that are used."""

    text_document: _Document


class CommandArguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The argument of the command ``intarsia.nextEdit``. Without an id: the best offer."""

    text_document: _Document
    id: str | None = None


def offered_edits(document: Document, offers: Sequence[OpenOffer]) -> OfferedEdits:
    """Return the notification with the open offers of a document."""
    return OfferedEdits(
        uri=document.uri,
        version=document.version,
        edits=tuple(
            OfferedEdit(
                id=offer.id,
                range=range_of(document, offer),
                new_text=offer.text,
                level=offer.level,
            )
            for offer in offers
        ),
    )


def range_of(document: Document, offer: OpenOffer) -> types.Range:
    """Return the range that an offer replaces."""
    return types.Range(document.position_at(offer.start), document.position_at(offer.end))


def read_done(params: object) -> NextEditDone:
    """Read the notification. Raises JsonRpcInvalidParams."""
    return _read(params, NextEditDone)


def read_inline_edit(params: object) -> InlineEditParams:
    """Read the request. Raises JsonRpcInvalidParams."""
    return _read(params, InlineEditParams)


def read_command(params: types.ExecuteCommandParams) -> CommandArguments:
    """Read the command's argument. Raises JsonRpcInvalidParams."""
    values = params.arguments or ()
    if len(values) != 1:
        raise JsonRpcInvalidParams(f"{params.command}: expected one argument, got {len(values)}")
    return _read(values[0], CommandArguments)


def _read(params: object, as_what: type[_Message]) -> _Message:
    try:
        return msgspec.convert(_as_json(params), as_what)
    except msgspec.ValidationError as error:
        raise JsonRpcInvalidParams(str(error)) from error


def _as_json(value: object) -> object:
    """Return parameters of a method of our own as JSON: pygls makes named tuples of objects."""
    if hasattr(value, "_asdict"):
        return {key: _as_json(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return value
