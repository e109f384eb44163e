"""Computes an edit with progress and returns it as a WorkspaceEdit.

Shared by the command and the code action.
"""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.lsp.edits.edit_arguments import EditArguments
from intarsia.lsp.edits.edit_progress import edit_progress
from intarsia.lsp.edits.workspace_edit import shape_for, workspace_edit

if TYPE_CHECKING:
    from intarsia.infill.filling.fill_all import FillProgress
    from intarsia.lsp.edits.compute_edit import ComputedEdit
    from intarsia.lsp.server import IntarsiaServer

logger = logging.getLogger(__name__)

_TITLES = {
    "fill": "filling the selection",
    "fillAll": "filling all holes",
    "rewrite": "rewriting the selection",
    "repair": "looking for a repair",
}
_LABELS = {
    "fill": "Fill the selection",
    "fillAll": "Fill all holes",
    "rewrite": "Rewrite the selection",
    "repair": "Repair the error",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class EditResult:
    """``edit`` is None where nothing changes. ``reason`` tells why some holes are not filled."""

    label: str
    edit: types.WorkspaceEdit | None
    num_holes: int
    num_filled: int
    reason: str | None


async def make_edit(
    ls: "IntarsiaServer", arguments: EditArguments, token: types.ProgressToken | None = None
) -> EditResult:
    """Have the model fill the holes; return the edit in the form that this client understands."""
    from intarsia.lsp.edits.compute_edit import compute_edit

    async with edit_progress(ls, token, f"intarsia: {_TITLES[arguments.kind]}") as report:

        def on_progress(progress: "FillProgress") -> None:
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
    )


def show_reason(ls: "IntarsiaServer", result: EditResult, reason: str) -> None:
    """Show the user why some holes, or all, were not filled."""
    done = f"{result.num_filled} of {result.num_holes} filled: " if result.num_filled else ""
    message = f"intarsia: {done}{reason}"
    ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))


def _workspace_edit(
    ls: "IntarsiaServer", arguments: EditArguments, computed: "ComputedEdit"
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
