"""Computes an edit with progress and returns it as a WorkspaceEdit.

Shared by the command and the code action. When the user cancels the progress, the edit's task is
cancelled.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.progress import Progress

from intarsia.infill.filling.fill_places import FillProgress
from intarsia.lsp.edits.compute_edit import ComputedEdit, compute_edit
from intarsia.lsp.edits.workspace_edit import shape_for, workspace_edit
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
    async with edit_progress(ls, token, f"intarsia: {_TITLES[arguments.kind]}") as report:

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


@asynccontextmanager
async def edit_progress(
    ls: IntarsiaServer, token: types.ProgressToken | None, title: str
) -> AsyncIterator[Report]:
    """Show progress while the block runs, where the client can. It always ends with the block."""
    display = _ProgressDisplay(ls.work_done_progress, title)
    if token is not None:
        display.begin(token)
    elif (window := ls.client_capabilities.window) is not None and window.work_done_progress:
        display.opening = asyncio.create_task(display.open())
    try:
        yield display.report
    finally:
        display.end()


class _ProgressDisplay:
    """The client's progress display of one edit; nothing is shown until there is a token."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._token: types.ProgressToken | None = None
        self._edit = asyncio.current_task()
        self._last: tuple[str | None, float] = (None, 0.0)
        self._is_over = False
        self.opening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Create a token of the server's own. The client may answer late."""
        token = str(uuid4())
        try:
            await self._progress.create_async(token)
        except JsonRpcException as error:
            logger.info("the client cannot show progress: %s", error)
            return
        if not self._is_over:
            self.begin(token)

    def begin(self, token: types.ProgressToken) -> None:
        """Begin to show progress; from now on the user can cancel the edit."""
        self._token = token
        message, share = self._last
        begin = types.WorkDoneProgressBegin(
            title=self._title, cancellable=True, message=message, percentage=_percentage(share)
        )
        self._progress.begin(token, begin)
        self._progress.tokens[token].add_done_callback(self._on_cancel)

    def report(self, message: str, share: float) -> None:
        self._last = message, share
        if self._token is not None:
            report = types.WorkDoneProgressReport(
                cancellable=True, message=message, percentage=_percentage(share)
            )
            self._progress.report(self._token, report)

    def end(self) -> None:
        self._is_over = True
        if self._token is not None:
            self._progress.tokens.pop(self._token, None)
            self._progress.end(self._token, types.WorkDoneProgressEnd())

    def _on_cancel(self, _: Future[Any]) -> None:
        if self._edit is not None:
            self._edit.cancel()


def _percentage(share: float) -> int:
    return round(100 * share)
