"""A repair as a quick fix."""

from lsprotocol import types

from intarsia.infill.repair.description import description_of
from intarsia.infill.repair.find_repair import Repair
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.edits.edit_arguments import edit_arguments
from intarsia.lsp.edits.workspace_edit import shape_for, workspace_edit
from intarsia.lsp.protocol_extensions import EDIT_COMMAND, EDIT_KINDS
from intarsia.lsp.repairs.repairs import ErrorRange


def repair_action(
    capabilities: types.ClientCapabilities, document: Document, error: ErrorRange, repair: Repair
) -> types.CodeAction | types.Command:
    """Return the quick fix, with its edit. It is not preferred: the model may be wrong."""
    title = title_of(document, error, repair)
    text_document = capabilities.text_document
    client = text_document.code_action if text_document is not None else None
    if client is None or client.code_action_literal_support is None:
        where = types.Range(document.position_at(error.start), document.position_at(error.end))
        arguments = edit_arguments("repair", document.uri, document.version, where)
        return types.Command(title=title, command=EDIT_COMMAND, arguments=[arguments])
    shape = shape_for(capabilities, needs_confirmation=False)
    return types.CodeAction(
        title=title,
        kind=EDIT_KINDS["repair"],
        diagnostics=list(error.diagnostics) or None,
        edit=workspace_edit(document, [repair.replacement], "Repair", shape),
    )


def title_of(document: Document, error: ErrorRange, repair: Repair) -> str:
    """Return what the repair does, and in which line where it is another than the error's."""
    start = repair.replacement.start
    line = document.position_at(start).line
    lines = document.position_at(error.start).line, document.position_at(error.end).line
    place = "" if lines[0] <= line <= lines[1] else f" in line {line + 1}"
    return f"Repair: {description_of(document.text, repair)}{place} (intarsia)"
