"""The server's one connection to the engine: started on first use, its errors turned into reasons.

The engine's client is imported on first use, so that ``initialize`` does not wait for it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.engine.user_messages import EngineNotifier
from intarsia.lsp.status.reporter import StatusReporter

if TYPE_CHECKING:
    from intarsia.engine.ipc.client import EngineClient, EngineError
    from intarsia.engine.ipc.launch import LaunchOptions
    from intarsia.engine.ipc.messages import Fill, Filled, LoadProgress, Prefetch, Step

logger = logging.getLogger(__name__)

_FAILURES_TO_TELL = ("model", "out_of_memory")
"""The user can do something about these; the others are for the log alone."""

_ANSWERS_OF_A_SOUND_ENGINE = ("bad_request", "cancelled")


class EngineConnection:
    """Fills through the shared engine."""

    def __init__(
        self, told: EngineNotifier, status: StatusReporter, launch: "LaunchOptions | None"
    ) -> None:
        self._told = told
        self._status = status
        self._launch = launch  # how to start an engine; None: as the client does
        self._client: EngineClient | None = None

    async def fill(
        self, request: "Fill", on_step: "Callable[[Step], None] | None" = None
    ) -> "Filled | NoSuggestion":
        """Return the engine's answer; cancelling the await cancels it in the engine."""
        from intarsia.engine.ipc.client import EngineError

        try:
            with self._asking(request.model, is_fill=True) as client:
                filled = await client.fill(request, on_step)
        except EngineError as error:
            self._tell(error)
            return NoSuggestion(reason=f"the engine gave no answer: {error}")
        self._status.engine_answered(filled.model)
        _log_figures(filled)
        return filled

    def prefetch(self, place: "Prefetch") -> None:
        """Have a running engine read a context in idle time."""
        if self._client is not None:
            self._client.prefetch(place)

    async def preload(self, model: str | None) -> None:
        """Have the engine started and the model loaded before it is needed."""
        from intarsia.engine.ipc.client import EngineError

        try:
            with self._asking(model, is_fill=False) as client:
                loaded = await client.preload(model)
        except EngineError as error:
            self._tell(error)
        else:
            self._status.engine_answered(loaded.model)

    async def close(self) -> None:
        """End the connection; the engine goes on for others."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    @contextmanager
    def _asking(self, model: str | None, *, is_fill: bool) -> "Iterator[EngineClient]":
        client = self._connected()
        is_connected = client.welcome is not None
        with (
            self._told.waiting(),
            self._status.asking(model, is_connected=is_connected, is_fill=is_fill),
        ):
            yield client

    def _connected(self) -> "EngineClient":
        from intarsia.engine.ipc.client import EngineClient

        if self._client is None:
            self._client = EngineClient(
                name="lsp", launch=self._launch, on_load_progress=self._on_load_progress
            )
        return self._client

    def _on_load_progress(self, progress: "LoadProgress") -> None:
        self._status.loading(progress)
        if not self._status.is_started:
            self._told.on_load_progress(progress)

    def _tell(self, error: "EngineError") -> None:
        from intarsia.engine.ipc.client import FillFailed

        code = error.code if isinstance(error, FillFailed) else None
        if code not in _ANSWERS_OF_A_SOUND_ENGINE:
            self._status.failed(str(error))
        if code is None or code in _FAILURES_TO_TELL:
            self._told.tell_failure(str(error))


def _log_figures(filled: "Filled") -> None:
    logger.info(
        "filled in %.0f ms: %d steps; of the context %d tokens computed, %d reused; %s",
        filled.ms.total,
        filled.num_forwards,
        filled.num_prefilled,
        filled.num_reused,
        filled.finish_reason,
    )
