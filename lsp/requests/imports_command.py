"""``workspace/executeCommand`` with ``intarsia.addImports``: add imports to a document.

The edit is computed against the text as it is now: the suggestion that needs the imports may have
been accepted since, or only a part of it, or not yet.
"""

from typing import Annotated, Any

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import ImportBinding
from intarsia.infill.replacement import Replacement
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.edits.workspace_edit import shape_for, text_edit, workspace_edit
from intarsia.lsp.fill_options import language_of
from intarsia.lsp.protocol_extensions import IMPORTS_COMMAND
from intarsia.lsp.server import IntarsiaServer

MAX_IMPORTS = 50

_LABEL = "Add imports"
_Unsigned = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class _Document(msgspec.Struct, frozen=True):
    uri: str


class _Position(msgspec.Struct, frozen=True):
    line: _Unsigned
    character: _Unsigned


class _Arguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    text_document: _Document
    position: _Position
    imports: Annotated[tuple[ImportBinding, ...], msgspec.Meta(max_length=MAX_IMPORTS)]
    apply: bool = True


async def execute_add_imports(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """Answer with the edits and the version that they are for; nothing where none is needed.

    Raises JsonRpcInvalidParams for bad arguments.
    """
    arguments = _read_arguments(params)
    document = ls.session.documents.current(arguments.text_document.uri)
    edits = () if document is None else _edits(document, arguments)
    is_applied = False
    if arguments.apply and document is not None and edits:
        is_applied = await _apply(ls, document, edits)
    return {
        "applied": is_applied,
        "version": None if document is None else document.version,
        "edits": [text_edit(document, it) for it in edits] if document is not None else [],
    }


def _read_arguments(params: types.ExecuteCommandParams) -> _Arguments:
    values = params.arguments or ()
    try:
        if len(values) != 1:
            raise ValueError(f"expected one argument, got {len(values)}")
        return msgspec.convert(values[0], _Arguments)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{IMPORTS_COMMAND}: {error}") from error


def _edits(document: Document, arguments: _Arguments) -> tuple[Replacement, ...]:
    place = types.Position(arguments.position.line, arguments.position.character)
    return import_edits(
        document.text, arguments.imports, document.offset_at(place), language_of(document)
    )


async def _apply(ls: IntarsiaServer, document: Document, edits: tuple[Replacement, ...]) -> bool:
    """Have the client apply the edits; return whether it did."""
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.apply_edit:
        return False
    shape = shape_for(ls.client_capabilities, needs_confirmation=False)
    edit = workspace_edit(document, edits, _LABEL, shape)
    try:
        response = await ls.workspace_apply_edit_async(
            types.ApplyWorkspaceEditParams(edit=edit, label=_LABEL)
        )
    except JsonRpcException:
        return False
    return response.applied
