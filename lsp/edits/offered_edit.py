"""An offered next edit as LSP's WorkspaceEdit and as code actions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsprotocol import types

from intarsia.infill.next_edit.renaming import Rename
from intarsia.infill.replacement import ChangedFile, Replacement
from intarsia.lsp.documents import Document, Documents
from intarsia.lsp.edits.workspace_edit import EditShape, shape_for, text_edit, workspace_edit
from intarsia.lsp.next_edits.messages import range_of
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.next_edits.watched import Elsewhere
from intarsia.lsp.protocol_extensions import NEXT_EDIT_COMMAND, NEXT_EDIT_KIND, RENAME_COMMAND

_MAX_SHOWN_CHARS = 60


def offered_workspace_edit(
    capabilities: types.ClientCapabilities, document: Document, offer: OpenOffer
) -> types.WorkspaceEdit:
    """Return the edit, which needs no confirmation: the user has chosen this one."""
    shape = shape_for(capabilities, needs_confirmation=False)
    replacement = Replacement(start=offer.start, end=offer.end, new=offer.text)
    return workspace_edit(document, [replacement], "Next edit", shape)


def rename_edit(
    shape: EditShape,
    documents: Documents,
    own: tuple[Document, Sequence[OpenOffer]],
    files: Sequence[ChangedFile],
) -> types.WorkspaceEdit:
    """Return what a rename has left in its own document and in other files, as one edit.

    An open document's part is for its version, a closed file's for the text that was read.
    """
    document, offers = own
    opened = {it.disk_path: it for it in documents.opened()}
    here = [Replacement(start=it.start, end=it.end, new=it.text) for it in offers]
    parts: list[tuple[Document, int | None, Sequence[Replacement]]] = []
    if here:
        parts.append((document, document.version, here))
    for file in files:
        other = opened.get(file.path)
        read = replace(document.with_text(file.text), uri=Path(file.path).as_uri())
        version = None if other is None else other.version
        parts.append((other or read, version, file.replacements))
    edits = {
        it.uri: (version, [text_edit(it, one) for one in replacements])
        for it, version, replacements in parts
    }
    if not shape.has_versions:
        return types.WorkspaceEdit(changes={uri: texts for uri, (_, texts) in edits.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), it)
            for uri, (version, it) in edits.items()
        ]
    )


def rename_action(
    capabilities: types.ClientCapabilities, document: Document, rename: Rename, left: Elsewhere
) -> types.CodeAction | types.Command:
    """Return the action that renames in other files what was renamed in this one."""
    title = f"Rename {rename.old_name}: {uses_in_files(left)} (intarsia)"
    arguments = {"textDocument": {"uri": document.uri}}
    command = types.Command(title=title, command=RENAME_COMMAND, arguments=[arguments])
    if not _has_literals(capabilities):
        return command
    return types.CodeAction(title=title, kind=NEXT_EDIT_KIND, command=command)


def uses_in_files(left: Elsewhere) -> str:
    if left.files > 1:
        return f"{left.uses} uses in {left.files} other files"
    return "1 use in 1 other file" if left.uses == 1 else f"{left.uses} uses in 1 other file"


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
    has_literals = _has_literals(capabilities)
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


def _has_literals(capabilities: types.ClientCapabilities) -> bool:
    text_document = capabilities.text_document
    client = text_document.code_action if text_document is not None else None
    return client is not None and client.code_action_literal_support is not None


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
