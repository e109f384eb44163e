"""An offered next edit as LSP's WorkspaceEdit and as code actions."""

from collections.abc import Iterator, Sequence
from typing import Any

from lsprotocol import types

from intarsia.infill.replacement import Replacement
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.edits.workspace_edit import shape_for, workspace_edit
from intarsia.lsp.next_edits.messages import range_of
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.protocol_extensions import NEXT_EDIT_COMMAND, NEXT_EDIT_KIND

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
