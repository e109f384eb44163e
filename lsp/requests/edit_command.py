"""``workspace/executeCommand`` with ``intarsia.edit``: compute an edit, and apply it on request.

With ``apply: true`` the user is also shown what could not be filled; otherwise the reason is only
in the result.
"""

import asyncio
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from intarsia.lsp.edits.edit_arguments import EditArguments, read_edit_arguments
from intarsia.lsp.edits.make_edit import EditResult, make_edit, show_reason
from intarsia.lsp.protocol_extensions import EDIT_COMMAND
from intarsia.lsp.server import IntarsiaServer


async def execute_edit(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """Answer with an EditResult (docs/protocol.md).

    Raises JsonRpcInvalidParams for bad arguments.
    """
    arguments = _read_arguments(params)
    result = await make_edit(ls, arguments, params.work_done_token)
    not_applied = None
    if arguments.apply and result.edit is not None:
        not_applied = await _apply(ls, result)
    reason = not_applied or result.reason
    if arguments.apply and reason is not None:
        show_reason(ls, result, reason)
    return {
        "applied": arguments.apply and result.edit is not None and not_applied is None,
        "edit": result.edit,
        "holes": result.num_holes,
        "filled": result.num_filled,
        "reason": reason,
    }


def _read_arguments(params: types.ExecuteCommandParams) -> EditArguments:
    values = params.arguments or ()
    try:
        if len(values) != 1:
            raise ValueError(f"expected one argument, got {len(values)}")
        return read_edit_arguments(values[0])
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{EDIT_COMMAND}: {error}") from error


async def _apply(ls: IntarsiaServer, result: EditResult) -> str | None:
    """Have the client apply the edit; return why it did not."""
    assert result.edit is not None, "only an edit can be applied"
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.apply_edit:
        return "this editor cannot apply a server's edits: request the edit with apply: false"
    params = types.ApplyWorkspaceEditParams(edit=result.edit, label=result.label)
    try:
        # The client answers even if our request is cancelled, and its answer needs a receiver.
        response = await asyncio.shield(ls.workspace_apply_edit_async(params))
    except JsonRpcException as error:
        return f"the editor did not apply the edit: {error}"
    if response.applied:
        return None
    return f"the editor did not apply the edit: {response.failure_reason or 'it gave no reason'}"
