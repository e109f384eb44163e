"""Next edits as clients see them: messages (docs/protocol.md), workspace edits and code actions."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from lsprotocol import types

from intarsia.infill.next_edit.offer import Level
from intarsia.infill.next_edit.renaming import Rename
from intarsia.infill.replacement import Replacement
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.edits.workspace_edit import shape_for, workspace_edit
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.params import DocumentId
from intarsia.lsp.protocol_extensions import NEXT_EDIT_COMMAND, NEXT_EDIT_KIND

How: TypeAlias = Literal["accepted", "dismissed"]


class OfferedEdit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An offer as clients know it."""

    id: str
    range: types.Range
    new_text: str
    level: Level


class OfferedRename(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What another language server can do in the place of the offers.

    ``ranges`` are where the new name is; ``position`` is in the text with the old name back there.
    """

    old_name: str
    new_name: str
    ranges: tuple[types.Range, ...]
    position: types.Position


class OfferedEdits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of ``intarsia/nextEdits``: all offers of a version, best first."""

    uri: str
    version: int
    edits: tuple[OfferedEdit, ...]
    rename: OfferedRename | None = None


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


class CommandArguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The argument of the command ``intarsia.nextEdit``. Without an id: the best offer."""

    text_document: DocumentId
    id: str | None = None


def offered_edits(
    document: Document, offers: Sequence[OpenOffer], rename: Rename | None
) -> OfferedEdits:
    """Return the notification with the open offers of a document."""
    return OfferedEdits(
        uri=document.uri,
        version=document.version,
        edits=tuple(
            OfferedEdit(
                id=offer.id, range=range_of(document, offer), new_text=offer.text, level=offer.level
            )
            for offer in offers
        ),
        rename=None if rename is None else _offered_rename(document, rename),
    )


def range_of(document: Document, offer: OpenOffer) -> types.Range:
    """Return the range that an offer replaces."""
    return types.Range(document.position_at(offer.start), document.position_at(offer.end))


def _offered_rename(document: Document, rename: Rename) -> OfferedRename:
    ends = (start + len(rename.new_name) for start in rename.starts)
    return OfferedRename(
        old_name=rename.old_name,
        new_name=rename.new_name,
        ranges=tuple(
            types.Range(document.position_at(start), document.position_at(end))
            for start, end in zip(rename.starts, ends, strict=True)
        ),
        position=document.with_text(rename.undone(document.text)).position_at(rename.asked_at),
    )


_MAX_SHOWN_CHARS = 60


def offered_workspace_edit(
    capabilities: types.ClientCapabilities, document: Document, offer: OpenOffer
) -> types.WorkspaceEdit:
    """Return the edit, which needs no confirmation: the user has chosen this one."""
    shape = shape_for(capabilities, needs_confirmation=False)
    replacement = Replacement(start=offer.start, end=offer.end, new=offer.text)
    return workspace_edit(document, [replacement], "Next edit", shape)


def next_edit_actions(
    capabilities: types.ClientCapabilities,
    document: Document,
    offers: Sequence[OpenOffer],
    where: types.Range,
    *,
    is_automatic: bool,
) -> Iterator[types.CodeAction | types.Command]:
    """Yield the offers at a range; and, where the user asks for actions, the way to the best one.

    A quick fix, since editors show a light bulb for these, and apply a preferred one by one key.
    """
    text_document = capabilities.text_document
    client = text_document.code_action if text_document is not None else None
    has_literals = client is not None and client.code_action_literal_support is not None
    here = [offer for offer in offers if _touches(range_of(document, offer), where)]
    for offer in here:
        title = f"Next edit: {_shown(document, offer)} (intarsia)"
        if not has_literals:
            yield _command(title, document, offer)
            continue
        yield types.CodeAction(
            title=title,
            kind=NEXT_EDIT_KIND,
            is_preferred=True,
            edit=offered_workspace_edit(capabilities, document, offer),
        )
    if not is_automatic and any(offer not in here for offer in offers):
        best = next(offer for offer in offers if offer not in here)
        command = _command("Go to next edit (intarsia)", document, best)
        if has_literals:
            yield types.CodeAction(title=command.title, kind=NEXT_EDIT_KIND, command=command)
        else:
            yield command


def _command(title: str, document: Document, offer: OpenOffer) -> types.Command:
    arguments: dict[str, Any] = {"textDocument": {"uri": document.uri}, "id": offer.id}
    return types.Command(title=title, command=NEXT_EDIT_COMMAND, arguments=[arguments])


def _touches(place: types.Range, where: types.Range) -> bool:
    """Whether the lines of a place are among those of a range."""
    last = max(place.start.line, place.end.line - (place.end.character == 0))
    return place.start.line <= where.end.line and where.start.line <= last


def _shown(document: Document, offer: OpenOffer) -> str:
    """Return what an offer does, in one line."""
    new = offer.text.strip()
    if not new:
        return f"delete {_cut(document.text[offer.start : offer.end].strip())}"
    return _cut(new)


def _cut(text: str) -> str:
    line = text.split("\n", 1)[0].rstrip()
    is_cut = line != text or len(line) > _MAX_SHOWN_CHARS
    return line[:_MAX_SHOWN_CHARS] + ("…" if is_cut else "")
