"""Shows the user the progress of a loading model, and each failure of the engine once.

Knows nothing of fills or documents.
"""

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from intarsia.engine.ipc.messages import LoadProgress

logger = logging.getLogger(__name__)

_NUMBER = re.compile(r"\d+")


class EngineNotifier:
    """Notifies the user, and remembers which failures have been shown."""

    def __init__(self, server: "LanguageServer") -> None:
        self._server = server
        self._shown_failures: set[str] = set()
        self._num_waiting = 0
        self._updates: asyncio.Queue[LoadProgress | None] | None = None
        self._display: asyncio.Task[None] | None = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Show the engine's load progress while the block, which needs the model, runs."""
        self._num_waiting += 1
        try:
            yield
        finally:
            self._num_waiting -= 1
            if not self._num_waiting and self._updates is not None:
                self._updates.put_nowait(None)
                self._updates = None

    def on_load_progress(self, progress: "LoadProgress") -> None:
        """Show it, if a request waits for the model and the client can show it."""
        window = self._server.client_capabilities.window
        if not self._num_waiting or window is None or not window.work_done_progress:
            return
        if self._updates is None:
            self._updates = asyncio.Queue()
            self._display = asyncio.create_task(self._show(progress, self._updates))
        else:
            self._updates.put_nowait(progress)

    def notify_failure(self, message: str) -> None:
        """Log the failure, and show it the first time."""
        logger.warning("%s", message)
        kind = _NUMBER.sub("#", message)  # "… again in 12 s" is the same failure as "… in 11 s"
        if kind not in self._shown_failures:
            self._shown_failures.add(kind)
            params = types.ShowMessageParams(types.MessageType.Warning, f"intarsia: {message}")
            self._server.window_show_message(params)

    async def _show(
        self, first: "LoadProgress", updates: "asyncio.Queue[LoadProgress | None]"
    ) -> None:
        token = str(uuid4())
        progress = self._server.work_done_progress
        try:
            await progress.create_async(token)
        except JsonRpcException as error:
            logger.info("the client cannot show progress: %s", error)
            return
        progress.begin(
            token,
            types.WorkDoneProgressBegin(
                title="intarsia", message=first.stage, percentage=_percentage(first)
            ),
        )
        while (update := await updates.get()) is not None:
            progress.report(
                token,
                types.WorkDoneProgressReport(message=update.stage, percentage=_percentage(update)),
            )
        progress.end(token, types.WorkDoneProgressEnd())


def _percentage(progress: "LoadProgress") -> int | None:
    return None if progress.fraction is None else round(100 * progress.fraction)
