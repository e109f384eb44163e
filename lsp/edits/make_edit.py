"""From what is asked for to a WorkspaceEdit, with progress: shared by command and code action."""

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
}
_LABELS = {
    "fill": "Fill the selection",
    "fillAll": "Fill all holes",
    "rewrite": "Rewrite the selection",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class EditResult:
    """``edit`` None: there is nothing to change. ``reason``: why not all is filled, or none."""

    label: str
    edit: types.WorkspaceEdit | None
    num_holes: int
    num_filled: int
    reason: str | None


async def make_edit(
    ls: "IntarsiaServer", arguments: EditArguments, token: types.ProgressToken | None = None
) -> EditResult:
    """Have the model fill, and return the edit for this client."""
    from intarsia.lsp.edits.compute_edit import compute_edit

    async with edit_progress(ls, token, f"intarsia: {_TITLES[arguments.kind]}") as report:

        def on_progress(progress: "FillProgress") -> None:
            report(progress.description, progress.fraction)

        work = await compute_edit(ls.session, arguments, on_progress)
    if work.reason is not None:
        logger.info("%s: %s", _TITLES[arguments.kind], work.reason)
    return EditResult(
        label=_LABELS[arguments.kind],
        edit=_edit(ls, arguments, work),
        num_holes=work.num_holes,
        num_filled=len(work.replacements),
        reason=work.reason,
    )


def tell_why(ls: "IntarsiaServer", made: EditResult, reason: str) -> None:
    """Show the user why not all was filled, or nothing."""
    done = f"{made.num_filled} of {made.num_holes} filled: " if made.num_filled else ""
    shown = types.ShowMessageParams(types.MessageType.Info, f"intarsia: {done}{reason}")
    ls.window_show_message(shown)


def _edit(
    ls: "IntarsiaServer", arguments: EditArguments, work: "ComputedEdit"
) -> types.WorkspaceEdit | None:
    """Return the edit as the client takes it; returned to its caller it has a version always."""
    if work.document is None or not work.replacements:
        return None
    shape = shape_for(ls.client_capabilities, needs_confirmation=ls.session.settings.preview_edits)
    if not arguments.apply:
        shape = shape.versioned()
    return workspace_edit(work.document, work.replacements, _LABELS[arguments.kind], shape)
