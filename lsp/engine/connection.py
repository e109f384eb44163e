"""The server's one connection to the engine; errors become reasons for no suggestion.

The engine starts on first use. Its client is imported then too, so that ``initialize`` does not
wait for it.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.engine.user_messages import EngineNotifier
from intarsia.lsp.status.reporter import StatusReporter

if TYPE_CHECKING:
    from intarsia.engine.ipc.client import EngineClient, EngineError
    from intarsia.engine.ipc.launch import LaunchOptions
    from intarsia.engine.ipc.messages import (
        Fill,
        Filled,
        LoadProgress,
        Prefetch,
        ProjectContext,
        Step,
    )

logger = logging.getLogger(__name__)

_USER_FAILURES = ("model", "out_of_memory")
"""The user can do something about these; others are only logged."""

_HEALTHY_ENGINE = ("bad_request", "cancelled")
"""The engine works although it answers with one of these."""


class EngineConnection:
    """Sends fills and preloads to the engine that all clients share."""

    def __init__(
        self, notifier: EngineNotifier, status: StatusReporter, launch: "LaunchOptions | None"
    ) -> None:
        self._notifier = notifier
        self._status = status
        self._launch = launch  # how to start an engine; None: the client's default
        self._client: EngineClient | None = None
        self._tokens_per_s: float | None = None  # that the engine reads

    async def fill(
        self, request: "Fill", on_step: "Callable[[Step], None] | None" = None
    ) -> "Filled | NoSuggestion":
        """Return the engine's answer; cancelling the await cancels it in the engine."""
        from intarsia.engine.ipc.client import EngineError

        try:
            with self._busy(request.model, is_fill=True) as client:
                filled = await client.fill(request, on_step)
        except EngineError as error:
            self._notify_failure(error)
            return NoSuggestion(reason=f"the engine gave no answer: {error}")
        self._status.engine_answered(filled.model)
        _log_figures(filled)
        return filled

    def prefetch(self, request: "Prefetch") -> None:
        """Have the engine read a context in idle time, if one is connected."""
        if self._client is not None:
            self._client.prefetch(request)

    def prefetch_hole(self, fill: "Fill", project: "ProjectContext") -> None:
        """Have the engine read the context of a fill, and this code of other files before it."""
        from intarsia.engine.ipc.messages import Prefetch

        self.prefetch(
            Prefetch(
                prefix=fill.prefix,
                suffix=fill.suffix,
                given=fill.given,
                project=project,
                model=fill.model,
            )
        )

    async def score_chunks(
        self, fill: "Fill", project: "ProjectContext"
    ) -> "Sequence[float] | None":
        """Return each chunk's gain in nats per token, None where the engine cannot say."""
        from intarsia.engine.ipc.client import EngineError
        from intarsia.engine.ipc.messages import ScoreChunks

        if self._client is None:
            return None
        request = ScoreChunks(
            id=0, prefix=fill.prefix, suffix=fill.suffix, project=project, model=fill.model
        )
        try:
            return await self._client.score_chunks(request)
        except EngineError as error:
            logger.info("code of other files is used unscored: %s", error)
            return None

    async def context_budget(self) -> int:
        """Return how many tokens of other files this machine can read in idle time.

        The first measured speed counts: a changed budget would have everything read again.
        """
        from intarsia.engine.ipc.context_budget import context_budget

        return context_budget(await self.reading_speed())

    async def reading_speed(self) -> float | None:
        """Return the tokens of context that the engine reads in a second, None if unknown."""
        from intarsia.engine.ipc.client import EngineError

        if self._tokens_per_s is None and self._client is not None:
            try:
                self._tokens_per_s = (await self._client.status()).prefill_tokens_per_s
            except EngineError as error:
                logger.info("the engine's speed is unknown: %s", error)
        return self._tokens_per_s

    async def preload(self, model: str | None) -> None:
        """Have the engine started and the model loaded before it is needed."""
        from intarsia.engine.ipc.client import EngineError

        try:
            with self._busy(model, is_fill=False) as client:
                loaded = await client.preload(model)
        except EngineError as error:
            self._notify_failure(error)
        else:
            self._status.engine_answered(loaded.model)

    async def close(self) -> None:
        """Close the connection; the engine keeps running for other clients."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    @contextmanager
    def _busy(self, model: str | None, *, is_fill: bool) -> "Iterator[EngineClient]":
        client = self._connected()
        is_connected = client.welcome is not None
        with (
            self._notifier.waiting(),
            self._status.busy(model, is_connected=is_connected, is_fill=is_fill),
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
            self._notifier.on_load_progress(progress)

    def _notify_failure(self, error: "EngineError") -> None:
        from intarsia.engine.ipc.client import FillFailed

        code = error.code if isinstance(error, FillFailed) else None
        if code not in _HEALTHY_ENGINE:
            self._status.failed(str(error))
        if code is None or code in _USER_FAILURES:
            self._notifier.notify_failure(str(error))


def _log_figures(filled: "Filled") -> None:
    logger.info(
        "filled in %.0f ms, %d forward passes; context tokens: %d computed, %d reused; %s",
        filled.ms.total,
        filled.num_forwards,
        filled.num_prefilled,
        filled.num_reused,
        filled.finish_reason,
    )
