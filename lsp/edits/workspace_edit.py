"""Replacements in one version of a document as LSP's WorkspaceEdit, in the shape the client takes.

The edit says which version it is of, so that a client which checks versions refuses a stale one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsprotocol import types

from intarsia.infill.filling.replacement import Replacement
from intarsia.lsp.documents.documents import Document

ANNOTATION = "intarsia"


@dataclass(frozen=True, kw_only=True, slots=True)
class EditShape:
    """What of a WorkspaceEdit the client understands, and whether it is to ask the user first."""

    has_versions: bool
    has_annotations: bool
    needs_confirmation: bool

    def versioned(self) -> "EditShape":
        """Return the same with versions: for a caller that says itself what it understands."""
        return replace(self, has_versions=True)


def shape_for(capabilities: types.ClientCapabilities, *, needs_confirmation: bool) -> EditShape:
    """Return the shape of edits for a client."""
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
    """Return one edit a replacement, and nothing else; ``label`` says what they do."""
    edits = [_text_edit(document, replacement) for replacement in replacements]
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
                description="written by a language model on this machine",
            )
        },
    )


def _text_edit(document: Document, replacement: Replacement) -> types.TextEdit:
    return types.TextEdit(
        range=types.Range(
            start=document.position_at(replacement.start),
            end=document.position_at(replacement.end),
        ),
        new_text=replacement.new,
    )
