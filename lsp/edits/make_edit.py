"""Computes an edit with progress and returns it as a WorkspaceEdit.

Shared by the command and the code action. When the user cancels the progress, the edit's task is
cancelled.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from lsprotocol import types

from intarsia.infill.filling.fill_places import FillProgress
from intarsia.lsp.edits.compute_edit import ComputedEdit, compute_edit
from intarsia.lsp.edits.workspace_edit import shape_for, workspace_edit
from intarsia.lsp.engine_connection import ProgressDisplay
from intarsia.lsp.protocol_extensions import EditArguments
from intarsia.lsp.server import IntarsiaServer

logger = logging.getLogger(__name__)

_TITLES = {
    "fill": "filling the selection",
    "fillAll": "filling all holes",
    "rewrite": "rewriting the selection",
    "instruct": "editing the selection",
    "repair": "looking for a repair",
    "document": "writing a docstring",
}
_LABELS = {
    "fill": "Fill the selection",
    "fillAll": "Fill all holes",
    "rewrite": "Rewrite the selection",
    "instruct": "Edit the selection by an instruction",
    "repair": "Repair the error",
    "document": "Write a docstring",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class EditResult:
    """``edit`` is None where nothing changes. ``reason`` tells why some holes are not filled.

    ``caution`` tells, once in a session, what was measured of a model that is often wrong.
    """

    label: str
    edit: types.WorkspaceEdit | None
    num_holes: int
    num_filled: int
    reason: str | None
    caution: str | None = None


async def make_edit(
    ls: IntarsiaServer, arguments: EditArguments, token: types.ProgressToken | None = None
) -> EditResult:
    """Fill the holes; return the edit in the form that this client understands."""
    with edit_progress(ls, token, f"intarsia: {_TITLES[arguments.kind]}") as report:

        def on_progress(progress: FillProgress) -> None:
            report(progress.description, progress.fraction)

        computed = await compute_edit(ls.session, arguments, on_progress)
    if computed.reason is not None:
        logger.info("%s: %s", _TITLES[arguments.kind], computed.reason)
    return EditResult(
        label=_LABELS[arguments.kind],
        edit=_workspace_edit(ls, arguments, computed),
        num_holes=computed.num_holes,
        num_filled=len(computed.replacements),
        reason=computed.reason,
        caution=computed.caution,
    )


def show_reason(ls: IntarsiaServer, result: EditResult, reason: str) -> None:
    """Show the user why some holes, or all, were not filled."""
    done = f"{result.num_filled} of {result.num_holes} filled: " if result.num_filled else ""
    show_message(ls, done + reason)


def show_message(ls: IntarsiaServer, message: str) -> None:
    """Show the user a message of ours."""
    params = types.ShowMessageParams(types.MessageType.Info, f"intarsia: {message}")
    ls.window_show_message(params)


def _workspace_edit(
    ls: IntarsiaServer, arguments: EditArguments, computed: ComputedEdit
) -> types.WorkspaceEdit | None:
    """Return the edit as the client understands it; with a version where it is only returned."""
    if computed.document is None or not computed.replacements:
        return None
    shape = shape_for(ls.client_capabilities, needs_confirmation=ls.session.settings.preview_edits)
    if not arguments.apply:
        shape = shape.versioned()
    label = _LABELS[arguments.kind] + (", with its imports" if computed.imports else "")
    replacements = (*computed.imports, *computed.replacements)
    return workspace_edit(computed.document, replacements, label, shape)


Report: TypeAlias = Callable[[str, float], None]
"""Called with the current activity and the share of the work that is done (0 to 1)."""


@contextmanager
def edit_progress(
    ls: IntarsiaServer, token: types.ProgressToken | None, title: str
) -> Iterator[Report]:
    """Show progress while the block runs, where the client can. It always ends with the block."""
    editing = asyncio.current_task()
    assert editing is not None, "an edit is computed in a task"
    display = ProgressDisplay(ls, title, on_cancel=editing.cancel)
    if token is not None:
        display.begin(token)
    else:
        display.open()
    try:
        yield display.report
    finally:
        display.end()
