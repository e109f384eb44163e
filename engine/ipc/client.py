"""The client of the engine: ``await client.fill(...)``; cancelling the await cancels the fill.

Raises an ``EngineError`` where there is no answer. Its one connection is opened, and an engine
started and restarted, with back-off. Imports neither torch nor transformers.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Self, TypeVar

import psutil
from msgspec.structs import replace

from intarsia.engine.ipc.address import Address, resolve_address
from intarsia.engine.ipc.connection import (
    Answered,
    Connection,
    ConnectionLost,
    OnLoadProgress,
    OnStep,
    ProtocolError,
)
from intarsia.engine.ipc.errors import (
    EngineError,
    EngineSilent,
    EngineStuck,
    EngineUnavailable,
    FillFailed,
    NoEngine,
)
from intarsia.engine.ipc.handshake import connect
from intarsia.engine.ipc.launch import (
    LaunchOptions,
    connect_or_start,
    end_stuck_engine,
    engine_process,
    stop_engine,
    uses_processor,
)
from intarsia.engine.ipc.messages import (
    AheadReport,
    Fill,
    Filled,
    FindNextEdits,
    GetStatus,
    NextEdits,
    Prefetch,
    Preload,
    ScoreTexts,
    Status,
    TextScores,
    Welcome,
)

__all__ = [
    "EngineClient",
    "EngineError",
    "EngineStuck",
    "EngineUnavailable",
    "FillFailed",
    "LaunchOptions",
    "NoEngine",
]

FIRST_DELAY_S = 0.5
LAST_DELAY_S = 30.0


class Backoff:
    """Counts failures in a row; one success resets the count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._not_before = 0.0
        self.num_failures = 0

    def failed(self) -> None:
        # The exponent is bounded: a client may run for months with a broken engine.
        delay = FIRST_DELAY_S * 2 ** min(self.num_failures, 16)
        self._not_before = self._clock() + min(delay, LAST_DELAY_S)
        self.num_failures += 1

    def succeeded(self) -> None:
        self.num_failures = 0
        self._not_before = 0.0

    def seconds_left(self) -> float:
        """Return how long to wait before the next start, 0 if it may be tried now."""
        return max(0.0, self._not_before - self._clock())


MAX_PATIENCE_S = 2.0
"""If the back-off lasts longer than this, a start is refused at once, with the reason."""

GREETING_S = 5.0
"""An engine that does not greet in this time is given twice as long, and then ended."""

MAX_BUSY_S = 60.0
"""A silent engine that uses the processor may only be slow; after this time it is ended."""

_log = logging.getLogger(__name__)


class Link:
    """Opens the connection on demand. With ``launch`` None it starts and ends no engine."""

    def __init__(
        self,
        *,
        name: str,
        address: Address | None,
        launch: LaunchOptions | None,
        on_load_progress: OnLoadProgress | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        self._hello = partial(connect, name=name, on_load_progress=on_load_progress)
        self._address = address
        self._launch = launch
        self._backoff = backoff or Backoff()
        self._opening: asyncio.Task[None] | None = None
        self._is_closed = False
        self._process: psutil.Process | None = None  # of the connected engine
        self._silent_since: float | None = None  # time.monotonic() of the first silence in a row
        self.current: Connection | None = None

    @property
    def address(self) -> Address:
        if self._address is None:
            self._address = resolve_address()
        return self._address

    async def connection(self) -> Connection:
        """Return an open connection. Raises ``EngineUnavailable``."""
        while self.current is None or not self.current.is_open:
            await self._open()
        return self.current

    def answered(self) -> None:
        """Forget earlier failures: the engine has answered a request."""
        self._backoff.succeeded()

    def lost(self, connection: Connection) -> None:
        """Delay the next start: the engine ended while a request was open."""
        if self.current is connection and not connection.is_stuck:
            self.current = None
            self._backoff.failed()

    async def close(self) -> None:
        self._is_closed = True
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self.current is not None:
            await self.current.close()

    async def _open(self) -> None:
        if self._is_closed:
            raise EngineUnavailable("this client of the engine is closed")
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._replace_connection())
            self._opening.add_done_callback(_mark_as_retrieved)
        opening = self._opening
        # asyncio.wait: cancelling this request must not cancel the start that the next one needs.
        await asyncio.wait([opening])
        if opening.cancelled():
            raise EngineUnavailable("this client of the engine is closed")
        opening.result()

    async def _replace_connection(self) -> None:
        if self.current is not None:
            await self.current.close()
            if self.current.is_stuck and self._launch is not None and self._process is not None:
                await self._end_stuck(self._process, is_silent=self.current.is_silent)
        self.current = await self._connect()
        self._process = _process_with(self.current.welcome.pid)
        self._silent_since = None

    async def _connect(self) -> Connection:
        try:
            return await self._greet()
        except NoEngine:
            if self._launch is None:
                raise
        return await self._start(self._launch)

    async def _greet(self) -> Connection:
        """Connect; end an engine silent twice, if we may start one. Raises as ``connect`` does."""
        try:
            return await self._hello(self.address, timeout_s=GREETING_S)
        except EngineSilent:
            silent = engine_process(self.address)
            if self._launch is None or silent is None:
                raise
        try:
            return await self._hello(self.address, timeout_s=2 * GREETING_S)
        except EngineSilent as error:
            if await self._end_stuck(silent, is_silent=True):
                raise NoEngine("the engine hung, and was stopped") from error
            raise

    async def _end_stuck(self, process: psutil.Process, *, is_silent: bool) -> bool:
        """End an engine that hangs, with back-off; False if it is spared, as perhaps starved."""
        now = time.monotonic()
        self._silent_since = now if self._silent_since is None else self._silent_since
        may_be_starved = is_silent and now - self._silent_since < MAX_BUSY_S
        if may_be_starved and await uses_processor(process):
            return False
        _log.warning("ending the engine that hangs (process %d)", process.pid)
        await end_stuck_engine(self.address, process)
        self._backoff.failed()
        return True

    async def _start(self, launch: LaunchOptions) -> Connection:
        await self._wait_for_backoff()
        try:
            greet = partial(self._hello, self.address)
            return await connect_or_start(self.address, launch, greet)
        except EngineUnavailable:
            self._backoff.failed()
            raise

    async def _wait_for_backoff(self) -> None:
        left = self._backoff.seconds_left()
        if left > MAX_PATIENCE_S:
            raise EngineUnavailable(
                f"the engine failed {self._backoff.num_failures} times in a row; it may start "
                f"again in {left:.0f} s: see {self.address.log_path}"
            )
        await asyncio.sleep(left)


def _process_with(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None  # it has ended already


def _mark_as_retrieved(opening: asyncio.Task[None]) -> None:
    """Keep asyncio from warning of a failure that no request waited for: the next one meets it."""
    if not opening.cancelled():
        opening.exception()


_Answer = TypeVar("_Answer", Filled, NextEdits, TextScores, Status)


class EngineClient:
    """Sends its requests over one connection, on one event loop; starts the engine on demand.

    With ``start=False`` it uses only an engine that runs already, and raises ``NoEngine`` else.
    """

    def __init__(
        self,
        *,
        name: str,
        on_load_progress: OnLoadProgress | None = None,
        launch: LaunchOptions | None = None,
        start: bool = True,
        address: Address | None = None,
    ) -> None:
        self._name = name
        self._ids = itertools.count(1)
        self._link = Link(
            name=name,
            address=address,
            launch=(launch or LaunchOptions()) if start else None,
            on_load_progress=on_load_progress,
        )

    @property
    def welcome(self) -> Welcome | None:
        """The connected engine's process, protocol and build; None if none is connected."""
        connection = self._link.current
        return connection.welcome if connection is not None and connection.is_open else None

    async def fill(self, request: Fill, on_step: OnStep | None = None) -> Filled:
        """Return the answer; an engine is started if none runs. ``on_step`` gets watched steps."""
        return await self.ask(request, Filled, on_step)

    async def find_next_edits(self, request: FindNextEdits) -> NextEdits:
        """Return what an edit made unlikely. Raises ``FillFailed`` if the model cannot score."""
        return await self.ask(request, NextEdits)

    async def score_texts(self, request: ScoreTexts) -> TextScores:
        """Return what texts gain over the present one. Raises ``FillFailed``, as next edits do."""
        return await self.ask(request, TextScores)

    def prefetch(self, place: Prefetch) -> None:
        """Send a connected engine the place of the user's cursor. Starts nothing, never fails."""
        self._tell(place)

    def report_ahead(self, report: AheadReport) -> None:
        """Send a connected engine what fills ahead of the user have brought. Never fails."""
        self._tell(report)

    async def preload(self, model: str | None = None) -> Status:
        """Load a model now (None: the default). Raises ``FillFailed`` if it cannot be loaded."""
        return await self.ask(Preload(id=0, model=model), Status)

    async def status(self) -> Status:
        return await self.ask(GetStatus(id=0), Status)

    async def stop(self) -> None:
        """End the engine, whatever protocol it speaks, and return when it has ended."""
        await stop_engine(self._link.address, name=self._name)

    async def close(self) -> None:
        """Close the connection; the engine runs on, and requests in flight fail."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def ask(
        self, request: Answered, kind: type[_Answer], on_step: OnStep | None = None
    ) -> _Answer:
        """Return the answer, which is of this kind, to a request: it gets its number here."""
        connection = await self._link.connection()
        try:
            answer = await connection.ask(replace(request, id=next(self._ids)), on_step)
        except ProtocolError as error:
            raise FillFailed("bad_request", str(error)) from error
        except ConnectionLost as error:
            self._link.lost(connection)
            raise FillFailed("internal", f"{error}: try again, which restarts it") from error
        if not isinstance(request, GetStatus):
            self._link.answered()
        if isinstance(answer, kind):
            return answer
        name = type(answer).__name__
        raise FillFailed("internal", f"the engine answered another request ({name}): restart it")

    def _tell(self, message: Prefetch | AheadReport) -> None:
        connection = self._link.current
        if connection is not None and connection.is_open:
            connection.send_unanswered(message)
