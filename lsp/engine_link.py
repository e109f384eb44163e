"""The server's one connection to the engine: started on first use, its errors turned into reasons.

The engine's client is imported on first use, so that ``initialize`` does not wait for it.
"""

import logging
from typing import TYPE_CHECKING

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.engine_status import EngineStatus

if TYPE_CHECKING:
    from intarsia.engine.ipc.client import EngineClient
    from intarsia.engine.ipc.launch import LaunchOptions
    from intarsia.engine.ipc.messages import Fill, Filled

logger = logging.getLogger(__name__)

_FAILURES_TO_TELL = ("model", "out_of_memory")
"""The user can do something about these; the others are for the log alone."""


class EngineLink:
    """Fills through the shared engine."""

    def __init__(self, status: EngineStatus, launch: "LaunchOptions | None") -> None:
        self._status = status
        self._launch = launch  # how to start an engine; None: as the client does
        self._client: EngineClient | None = None

    async def fill(self, request: "Fill") -> "Filled | NoSuggestion":
        """Return the engine's answer; cancelling the await cancels it in the engine."""
        from intarsia.engine.ipc.client import EngineError

        try:
            with self._status.waiting():
                filled = await self._connected().fill(request)
        except EngineError as error:
            self._tell(error)
            return NoSuggestion(reason=f"the engine gave no answer: {error}")
        _log_figures(filled)
        return filled

    async def preload(self, model: str | None) -> None:
        """Have the engine started and the model loaded before it is needed."""
        from intarsia.engine.ipc.client import EngineError

        try:
            with self._status.waiting():
                await self._connected().preload(model)
        except EngineError as error:
            self._tell(error)

    async def close(self) -> None:
        """End the connection; the engine goes on for others."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connected(self) -> "EngineClient":
        from intarsia.engine.ipc.client import EngineClient

        if self._client is None:
            self._client = EngineClient(
                name="lsp",
                launch=self._launch,
                on_load_progress=self._status.on_load_progress,
            )
        return self._client

    def _tell(self, error: Exception) -> None:
        from intarsia.engine.ipc.client import FillFailed

        if not isinstance(error, FillFailed) or error.code in _FAILURES_TO_TELL:
            self._status.tell_failure(str(error))


def _log_figures(filled: "Filled") -> None:
    logger.info(
        "filled in %.0f ms: %d steps; of the context %d tokens computed, %d reused; %s",
        filled.ms.total,
        filled.steps,
        filled.num_prefilled,
        filled.num_reused,
        filled.finish_reason,
    )
