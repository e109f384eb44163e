"""Turns replacements into LSP's WorkspaceEdit, in the form that the client understands.

The edit carries the document's version, so that a client which checks versions refuses a stale one.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.infill.replacement import Replacement
from intarsia.lsp.documents import Document
from intarsia.lsp.server import IntarsiaServer

ANNOTATION = "intarsia"

CANNOT_APPLY = "this editor cannot apply a server's edits"


@dataclass(frozen=True, kw_only=True, slots=True)
class EditShape:
    """Which parts of a WorkspaceEdit the client understands, and whether it asks the user first."""

    has_versions: bool
    has_annotations: bool
    needs_confirmation: bool

    def versioned(self) -> "EditShape":
        """Return the same shape with versions, for a client that applies the edit itself."""
        return replace(self, has_versions=True)


def shape_for(capabilities: types.ClientCapabilities, *, needs_confirmation: bool) -> EditShape:
    workspace = capabilities.workspace
    edits = workspace.workspace_edit if workspace is not None else None
    has_versions = edits is not None and bool(edits.document_changes)
    return EditShape(
        has_versions=has_versions,
        has_annotations=has_versions
        and edits is not None
        and edits.change_annotation_support is not None,
        needs_confirmation=needs_confirmation,
    )


def workspace_edit(
    document: Document, replacements: Sequence[Replacement], label: str, shape: EditShape
) -> types.WorkspaceEdit:
    """Return one text edit for each replacement; ``label`` tells what they do."""
    edits = [text_edit(document, replacement) for replacement in replacements]
    if not shape.has_versions:
        return types.WorkspaceEdit(changes={document.uri: edits})
    versioned = types.OptionalVersionedTextDocumentIdentifier(
        uri=document.uri, version=document.version
    )
    if not shape.has_annotations:
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(versioned, edits)])
    annotated = [
        types.AnnotatedTextEdit(annotation_id=ANNOTATION, range=edit.range, new_text=edit.new_text)
        for edit in edits
    ]
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(versioned, annotated)],
        change_annotations={
            ANNOTATION: types.ChangeAnnotation(
                label=label,
                needs_confirmation=shape.needs_confirmation,
                description="written by a language model",
            )
        },
    )


def text_edit(document: Document, replacement: Replacement) -> types.TextEdit:
    """Return a replacement in a document as the client counts positions."""
    return types.TextEdit(
        range=types.Range(
            start=document.position_at(replacement.start), end=document.position_at(replacement.end)
        ),
        new_text=replacement.new,
    )


async def apply_edit(ls: IntarsiaServer, edit: types.WorkspaceEdit, label: str) -> str | None:
    """Ask the client to apply an edit; return why it did not."""
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.apply_edit:
        return CANNOT_APPLY
    params = types.ApplyWorkspaceEditParams(edit=edit, label=label)
    try:
        # The client answers even if our request is cancelled, and its answer needs a receiver.
        response = await asyncio.shield(ls.workspace_apply_edit_async(params))
    except JsonRpcException as error:
        return f"the editor did not apply the edit: {error}"
    if response.applied:
        return None
    return f"the editor did not apply the edit: {response.failure_reason or 'it gave no reason'}"
