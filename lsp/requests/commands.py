"""``workspace/executeCommand``: edits, what the model sees, and imports (docs/protocol.md).

Each raises JsonRpcInvalidParams for bad arguments. ``next_edit`` has the command for next edits.
"""

from typing import Annotated, Any

import msgspec
from lsprotocol import types

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import ImportBinding
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.edits.make_edit import make_edit, show_message, show_reason
from intarsia.lsp.edits.workspace_edit import (
    CANNOT_APPLY,
    apply_edit,
    shape_for,
    text_edit,
    workspace_edit,
)
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.protocol_extensions import AtPosition, EditArguments, read_argument
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.snapshots import parse_if_long, seen
from intarsia.lsp.suggestions import Suggestions, plan_ahead
from intarsia.workspace.context.seen_text import seen_text

MAX_IMPORTS = 50

_ADD_IMPORTS = "Add imports"


async def execute_edit(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """``intarsia.edit``: compute an edit, and apply it on request.

    With ``apply: true`` the user is also shown what could not be filled; otherwise the reason is
    only in the result.
    """
    arguments = read_argument(params, EditArguments)
    result = await make_edit(ls, arguments, params.work_done_token)
    not_applied = None
    if arguments.apply and result.edit is not None:
        not_applied = await apply_edit(ls, result.edit, result.label)
        if not_applied == CANNOT_APPLY:
            not_applied += ": request the edit with apply: false"
    reason = not_applied or result.reason
    if arguments.apply and reason is not None:
        show_reason(ls, result, reason)
    if arguments.apply and result.caution is not None:
        show_message(ls, result.caution)
    return {
        "applied": arguments.apply and result.edit is not None and not_applied is None,
        "edit": result.edit,
        "holes": result.num_holes,
        "filled": result.num_filled,
        "reason": reason,
        "caution": result.caution,
    }


async def execute_context(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """``intarsia.context``: say what the model sees at a place, as ``{"text": …}``."""
    return {"text": await _context(ls, read_argument(params, AtPosition))}


async def _context(ls: IntarsiaServer, arguments: AtPosition) -> str:
    """Return what the model sees, or one line that says why it sees nothing."""
    session, uri = ls.session, arguments.text_document.uri
    snapshot = await seen(session, uri, arguments.position.as_lsp)
    if isinstance(snapshot, NoSuggestion):
        return f"the model sees nothing: {snapshot.reason}\n"
    if snapshot.refusal is not None:
        return f"the model sees nothing: {snapshot.refusal.reason}\n"
    await parse_if_long(snapshot.text, snapshot.offset, snapshot.language)
    plan = plan_ahead(session.feature(Suggestions), snapshot)
    if isinstance(plan, NoSuggestion):
        return f"no suggestion at this place: {plan.reason}\n"
    document, projects = snapshot.document, session.feature(ProjectContexts)
    is_complete = not session.in_force.folders or await projects.settled(document)
    context = await projects.find(document, plan)
    file = context.path if context else (document.disk_path or uri)
    speed = await session.engine.reading_speed()
    chunks = context.chunks if context else None
    return seen_text(plan, chunks, file=file, tokens_per_s=speed, is_complete=is_complete)


class _ImportArguments(AtPosition, frozen=True, kw_only=True):
    imports: Annotated[tuple[ImportBinding, ...], msgspec.Meta(max_length=MAX_IMPORTS)]
    apply: bool = True


async def execute_add_imports(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """``intarsia.addImports``: add imports to a document, at the version that is answered.

    The edits are for the text as it is now: the suggestion that needs the imports may have been
    accepted since, or only a part of it, or not yet.
    """
    arguments = read_argument(params, _ImportArguments)
    document = ls.session.documents.current(arguments.text_document.uri)
    if document is None:
        return {"applied": False, "version": None, "edits": []}
    place = document.offset_at(arguments.position.as_lsp)
    edits = import_edits(document.text, arguments.imports, place, document.language)
    is_applied = False
    if arguments.apply and edits:
        shape = shape_for(ls.client_capabilities, needs_confirmation=False)
        edit = workspace_edit(document, edits, _ADD_IMPORTS, shape)
        is_applied = await apply_edit(ls, edit, _ADD_IMPORTS) is None
    return {
        "applied": is_applied,
        "version": document.version,
        "edits": [text_edit(document, it) for it in edits],
    }
