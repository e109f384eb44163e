"""The server's one connection to the engine; errors become reasons for no suggestion.

The engine starts on first use. Its client is imported then too, so that ``initialize`` does not
wait for it. The user is shown the progress of a loading model, and each failure once.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.engine.ipc.errors import EngineError, EngineStuck, FillFailed
from intarsia.engine.ipc.messages import (
    AheadReport,
    Fill,
    Filled,
    FindNextEdits,
    LoadProgress,
    NextEdits,
    Prefetch,
    ProjectContext,
    ScoreTexts,
    Step,
    TextScores,
)
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.settings import Settings
from intarsia.lsp.status import StatusReporter

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from intarsia.engine.ipc.client import EngineClient
    from intarsia.engine.ipc.launch import LaunchOptions


_NUMBER = re.compile(r"\d+")


class ProgressDisplay:
    """The client's display of some progress; nothing is shown until there is a token."""

    def __init__(
        self, server: "LanguageServer", title: str, on_cancel: Callable[[], object] | None = None
    ) -> None:
        """``on_cancel`` is called where the user cancels; None: they cannot."""
        self._server = server
        self._title = title
        self._on_cancel = on_cancel
        self._token: types.ProgressToken | None = None
        self._last: tuple[str | None, int | None] = (None, 0)
        self._is_over = False
        self._opening: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Have the client make a display, if it can. It may answer late."""
        window = self._server.client_capabilities.window
        if window is not None and window.work_done_progress:
            self._opening = asyncio.create_task(self._open())

    async def _open(self) -> None:
        token = str(uuid4())
        try:
            await self._server.work_done_progress.create_async(token)
        except JsonRpcException as error:
            logger.info("the client cannot show progress: %s", error)
            return
        if not self._is_over:
            self.begin(token)

    def begin(self, token: types.ProgressToken) -> None:
        """Begin to show progress; from now on the user can cancel."""
        self._token = token
        message, percentage = self._last
        self._server.work_done_progress.begin(
            token,
            types.WorkDoneProgressBegin(
                title=self._title,
                cancellable=self._on_cancel is not None,
                message=message,
                percentage=percentage,
            ),
        )
        if (on_cancel := self._on_cancel) is not None:
            self._server.work_done_progress.tokens[token].add_done_callback(lambda _: on_cancel())

    def report(self, message: str, fraction: float | None) -> None:
        """Show what is being done, and how much of it is done, 0 to 1; None: unknown."""
        self._last = message, None if fraction is None else round(100 * fraction)
        if self._token is not None:
            report = types.WorkDoneProgressReport(
                cancellable=self._on_cancel is not None, message=message, percentage=self._last[1]
            )
            self._server.work_done_progress.report(self._token, report)

    def end(self) -> None:
        self._is_over = True
        if self._token is not None:
            self._server.work_done_progress.tokens.pop(self._token, None)
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())


class EngineNotifier:
    """Notifies the user, and remembers which failures have been shown."""

    def __init__(self, server: "LanguageServer") -> None:
        self._server = server
        self._shown_failures: set[str] = set()
        self._num_waiting = 0
        self._display: ProgressDisplay | None = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Show the engine's load progress while the block, which needs the model, runs."""
        self._num_waiting += 1
        try:
            yield
        finally:
            self._num_waiting -= 1
            if not self._num_waiting and self._display is not None:
                self._display.end()
                self._display = None

    def on_load_progress(self, progress: LoadProgress) -> None:
        """Show it, if a request waits for the model and the client can show it."""
        if not self._num_waiting:
            return
        if self._display is None:
            self._display = ProgressDisplay(self._server, "intarsia")
            self._display.open()
        self._display.report(progress.stage, progress.fraction)

    def notify_failure(self, message: str) -> None:
        """Log the failure, and show it the first time."""
        logger.warning("%s", message)
        kind = _NUMBER.sub("#", message)  # "… again in 12 s" is the same failure as "… in 11 s"
        if kind not in self._shown_failures:
            self._shown_failures.add(kind)
            params = types.ShowMessageParams(types.MessageType.Warning, f"intarsia: {message}")
            self._server.window_show_message(params)


logger = logging.getLogger(__name__)

_USER_FAILURES = ("model", "out_of_memory", "unavailable")
"""The user can do something about these; others are only logged."""

_HEALTHY_ENGINE = ("bad_request", "cancelled")
"""The engine works although it answers with one of these."""


class EngineConnection:
    """Sends fills and preloads to the engine that all clients share."""

    def __init__(
        self,
        notifier: EngineNotifier,
        status: StatusReporter,
        launch: "LaunchOptions | None",
        settings: Callable[[], Settings] = Settings,
    ) -> None:
        """``settings`` are those in force when an engine is started, by ``launch`` if given."""
        self._notifier = notifier
        self._status = status
        self._launch = launch
        self._settings = settings
        self._client: EngineClient | None = None
        self._tokens_per_s: float | None = None  # that the engine reads
        self._num_awaited = 0  # fills that the user waits for
        self._num_preloads = 0
        self._ahead: set[asyncio.Task[Any]] = set()  # tasks within ``fill_ahead``

    async def fill(
        self, request: Fill, on_step: Callable[[Step], None] | None = None
    ) -> Filled | NoSuggestion:
        """Return the engine's answer; cancelling the await cancels it in the engine.

        Ends the fill ahead of the user, if one runs.
        """
        try:
            async with self._awaited(request.model) as client:
                filled = await client.ask(request, Filled, on_step)
        except EngineError as error:
            return self._no_answer(error)
        self._status.engine_answered(filled.model)
        logger.info(
            "filled in %.0f ms, %d forward passes; context tokens: %d computed, %d reused; %s",
            filled.ms.total,
            filled.num_forwards,
            filled.num_prefilled,
            filled.num_reused,
            filled.finish_reason,
        )
        return filled

    async def score_texts(self, request: ScoreTexts) -> TextScores | NoSuggestion:
        """Return how much likelier texts are than the present one; the reason where none tells."""
        try:
            async with self._awaited(request.model) as client:
                return await client.score_texts(request)
        except EngineError as error:
            return self._no_answer(error)

    def _no_answer(self, error: EngineError) -> NoSuggestion:
        self._notify_failure(error)
        return NoSuggestion(reason=f"the engine gave no answer: {error}", kind="engine")

    @property
    def can_fill_ahead(self) -> bool:
        """Whether an engine is connected, and the user waits for no fill."""
        is_connected = self._client is not None and self._client.welcome is not None
        return is_connected and not self._num_awaited

    async def fill_ahead(self, request: Fill) -> Filled | None:
        """Return the answer to a fill that the user does not wait for, and does not see.

        None where it cannot be asked for, or fails. The awaiting task is cancelled as soon as the
        user waits for a fill.
        """
        task, client = asyncio.current_task(), self._client
        if client is None or task is None or not self.can_fill_ahead:
            return None
        self._ahead.add(task)
        try:
            return await client.fill(request)
        except EngineStuck as error:
            self._notify_failure(error)
            return None
        except EngineError as error:
            logger.debug("a fill ahead of the user gave no answer: %s", error)
            return None
        finally:
            self._ahead.discard(task)

    @property
    def is_awaited(self) -> bool:
        """Whether the user waits for a fill."""
        return self._num_awaited > 0

    async def find_next_edits(self, request: FindNextEdits) -> NextEdits | NoSuggestion | None:
        """Return the engine's answer; the reason where it gives none.

        None where the user or another request came first, or the engine is starting: it may be
        asked again. No engine is started for it.
        """
        client = self._client
        if client is None or client.welcome is None:
            return None if self._num_preloads else NoSuggestion(reason="no engine is running")
        asking = asyncio.create_task(client.find_next_edits(request))
        self._ahead.add(asking)
        try:
            await asyncio.wait({asking})
            return None if asking.cancelled() else asking.result()
        except EngineStuck as error:
            self._notify_failure(error)
            return NoSuggestion(reason=str(error))
        except FillFailed as error:
            return None if error.code == "cancelled" else NoSuggestion(reason=str(error))
        except EngineError as error:
            return NoSuggestion(reason=str(error))
        finally:
            self._ahead.discard(asking)
            asking.cancel()

    def report_ahead(self, report: AheadReport) -> None:
        """Report to a connected engine what fills ahead of the user have brought."""
        if self._client is not None:
            self._client.report_ahead(report)

    @asynccontextmanager
    async def _awaited(self, model: str | None) -> "AsyncIterator[EngineClient]":
        """Count a fill that the user waits for, after others are cancelled in the engine."""
        self._num_awaited += 1
        try:
            if self._ahead:
                for task in self._ahead:
                    task.cancel()
                await asyncio.sleep(0)
            with self._busy(model, is_fill=True) as client:
                yield client
        finally:
            self._num_awaited -= 1

    def prefetch_hole(self, fill: Fill, project: ProjectContext | None) -> None:
        """Ask a connected engine to read a fill's context, and code of other files before it."""
        if self._client is not None:
            place = Prefetch(
                prefix=fill.prefix,
                suffix=fill.suffix,
                given=fill.given,
                project=project,
                model=fill.model,
            )
            self._client.prefetch(place)

    async def reading_speed(self) -> float | None:
        """Return the tokens of context that the engine reads in a second, None if unknown.

        The first measured speed counts: another one would have everything read again.
        """
        if self._tokens_per_s is None and self._client is not None:
            try:
                self._tokens_per_s = (await self._client.status()).prefill_tokens_per_s
            except EngineError as error:
                logger.info("the engine's speed is unknown: %s", error)
        return self._tokens_per_s

    async def preload(self, model: str | None) -> None:
        """Start the engine and load the model before they are needed."""
        self._num_preloads += 1
        try:
            with self._busy(model, is_fill=False) as client:
                loaded = await client.preload(model)
        except EngineError as error:
            self._notify_failure(error)
        else:
            self._status.engine_answered(loaded.model)
        finally:
            self._num_preloads -= 1

    async def close(self) -> None:
        """Close the connection; the engine keeps running for other clients."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    @contextmanager
    def _busy(self, model: str | None, *, is_fill: bool) -> "Iterator[EngineClient]":
        from intarsia.engine.ipc.client import EngineClient, LaunchOptions

        if self._client is None:
            self._client = EngineClient(
                name="lsp",
                launch=replace(self._launch or LaunchOptions(), **self._settings().of_engine),
                on_load_progress=self._on_load_progress,
            )
        client, is_connected = self._client, self._client.welcome is not None
        with (
            self._notifier.waiting(),
            self._status.busy(model, is_connected=is_connected, is_fill=is_fill),
        ):
            yield client

    def _on_load_progress(self, progress: LoadProgress) -> None:
        self._status.loading(progress)
        if not self._status.is_started:
            self._notifier.on_load_progress(progress)

    def _notify_failure(self, error: EngineError) -> None:
        code = error.code if isinstance(error, FillFailed) else None
        if code not in _HEALTHY_ENGINE:
            self._status.failed(str(error))
        if code is None or code in _USER_FAILURES:
            self._notifier.notify_failure(str(error))
