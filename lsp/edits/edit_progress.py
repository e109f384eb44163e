"""Progress of one edit in the editor, on the request's own token or on one of the server's.

A cancel there ends the task that runs the edit.
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
"""Called with what is done now, and the share of the work that is done (0 to 1)."""


@asynccontextmanager
async def edit_progress(
    ls: "IntarsiaServer", token: types.ProgressToken | None, title: str
) -> AsyncIterator[Report]:
    """Show progress while the block runs, where the client can; its end is always told."""
    shown = _Shown(ls.work_done_progress, title)
    if token is not None:
        shown.begin(token)
    elif _takes_new_tokens(ls.client_capabilities):
        shown.opening = asyncio.create_task(shown.open())
    try:
        yield shown.report
    finally:
        shown.end()


class _Shown:
    """What the client shows of one edit; nothing until there is a token."""

    def __init__(self, progress: "Progress", title: str) -> None:
        self._progress = progress
        self._title = title
        self._token: types.ProgressToken | None = None
        self._edit = asyncio.current_task()
        self._last: tuple[str | None, float] = (None, 0.0)
        self._is_over = False
        self.opening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Ask the client to show progress that it did not ask for; it may take its time."""
        token = str(uuid4())
        try:
            await self._progress.create_async(token)
        except JsonRpcException as error:
            logger.info("the client shows no progress: %s", error)
            return
        if not self._is_over:
            self.begin(token)

    def begin(self, token: types.ProgressToken) -> None:
        """Show it; a cancel by the user ends the edit from now on."""
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


def _takes_new_tokens(capabilities: types.ClientCapabilities) -> bool:
    return capabilities.window is not None and bool(capabilities.window.work_done_progress)


def _percentage(share: float) -> int:
    return round(100 * share)
