"""``workspace/executeCommand`` with ``intarsia.edit``: work an edit out, and apply it if wanted.

Who has an edit applied is told as well what could not be done; who only wants it returned reads
that in the answer.
"""

import asyncio
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from intarsia.lsp.edits.edit_arguments import EDIT_COMMAND, EditArguments, read_edit_arguments
from intarsia.lsp.edits.make_edit import EditResult, make_edit, tell_why
from intarsia.lsp.server import IntarsiaServer


async def execute_command(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """Answer with an EditResult (docs/protocol.md). Raises JsonRpcInvalidParams."""
    arguments = _read(params)
    made = await make_edit(ls, arguments, params.work_done_token)
    why_not = None
    if arguments.apply and made.edit is not None:
        why_not = await _apply(ls, made)
    reason = why_not or made.reason
    if arguments.apply and reason is not None:
        tell_why(ls, made, reason)
    return {
        "applied": arguments.apply and made.edit is not None and why_not is None,
        "edit": made.edit,
        "holes": made.num_holes,
        "filled": made.num_filled,
        "reason": reason,
    }


def _read(params: types.ExecuteCommandParams) -> EditArguments:
    if params.command != EDIT_COMMAND:
        raise JsonRpcInvalidParams(
            f"the command {params.command!r} is not known; known is {EDIT_COMMAND}"
        )
    given = params.arguments or ()
    try:
        if len(given) != 1:
            raise ValueError(f"it takes one argument, not {len(given)}")
        return read_edit_arguments(given[0])
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{EDIT_COMMAND}: {error}") from error


async def _apply(ls: IntarsiaServer, made: EditResult) -> str | None:
    """Have the client apply the edit; return why it did not."""
    assert made.edit is not None, "only an edit can be applied"
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.apply_edit:
        return "this editor lets no server apply an edit: ask for it with apply: false"
    params = types.ApplyWorkspaceEditParams(edit=made.edit, label=made.label)
    try:
        # The client answers in any case: a cancel of ours must not take the answer's place away.
        result = await asyncio.shield(ls.workspace_apply_edit_async(params))
    except JsonRpcException as error:
        return f"the editor did not apply the edit: {error}"
    if result.applied:
        return None
    return f"the editor did not apply the edit: {result.failure_reason or 'it says not why'}"
