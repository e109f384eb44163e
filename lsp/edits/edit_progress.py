"""Shows the progress of one edit in the editor, on the request's token or on a new one.

When the user cancels it there, the task that runs the edit is cancelled.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from pygls.progress import Progress

    from intarsia.lsp.server import IntarsiaServer

logger = logging.getLogger(__name__)

Report: TypeAlias = Callable[[str, float], None]
"""Called with the current activity and the share of the work that is done (0 to 1)."""


@asynccontextmanager
async def edit_progress(
    ls: "IntarsiaServer", token: types.ProgressToken | None, title: str
) -> AsyncIterator[Report]:
    """Show progress while the block runs, where the client can. It always ends with the block."""
    display = _ProgressDisplay(ls.work_done_progress, title)
    if token is not None:
        display.begin(token)
    elif _accepts_new_tokens(ls.client_capabilities):
        display.opening = asyncio.create_task(display.open())
    try:
        yield display.report
    finally:
        display.end()


class _ProgressDisplay:
    """The client's progress display of one edit; nothing is shown until there is a token."""

    def __init__(self, progress: "Progress", title: str) -> None:
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

    def _on_cancel(self, _: "Future[Any]") -> None:
        if self._edit is not None:
            self._edit.cancel()


def _accepts_new_tokens(capabilities: types.ClientCapabilities) -> bool:
    return capabilities.window is not None and bool(capabilities.window.work_done_progress)


def _percentage(share: float) -> int:
    return round(100 * share)
