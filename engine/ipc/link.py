"""A client's one connection to the engine, which is started and restarted with back-off."""

import asyncio
import logging
import time
from collections.abc import Callable

import psutil

from intarsia.engine.ipc.address import Address, resolve_address
from intarsia.engine.ipc.connection import Connection, OnLoadProgress
from intarsia.engine.ipc.errors import EngineSilent, EngineUnavailable, NoEngine
from intarsia.engine.ipc.handshake import connect
from intarsia.engine.ipc.launch import LaunchOptions, connect_or_start
from intarsia.engine.ipc.stop import end_stuck_engine, engine_process, uses_processor

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
"""An engine that does not say hello in this time is given twice the time, and then ended."""

MAX_BUSY_S = 60.0
"""A silent engine that uses the processor may be starved of it; after this time it is ended."""

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
        self._name = name
        self._address = address
        self._launch = launch
        self._on_load_progress = on_load_progress
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
            return await self._connect_within(GREETING_S)
        except EngineSilent:
            silent = engine_process(self.address)
            if self._launch is None or silent is None:
                raise
        try:
            return await self._connect_within(2 * GREETING_S)
        except EngineSilent as error:
            if await self._end_stuck(silent, is_silent=True):
                raise NoEngine("the engine hung, and was ended") from error
            raise

    async def _connect_within(self, timeout_s: float) -> Connection:
        return await connect(
            self.address,
            name=self._name,
            on_load_progress=self._on_load_progress,
            timeout_s=timeout_s,
        )

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
            return await connect_or_start(
                self.address, launch, name=self._name, on_load_progress=self._on_load_progress
            )
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
