"""Serve clients at an address: a session for each on an event loop, one worker for them all.

An engine ends by itself if it is idle for too long, was replaced by an upgrade, or cannot be found
by new clients any more. Then it makes room as soon as no request is open.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import time
from collections.abc import Callable

import psutil

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.config import EngineConfig
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.handshake import build_id, build_on_disk, is_newer
from intarsia.engine.ipc.messages import AheadReport, LoadProgress, Status, summed
from intarsia.engine.ipc.throttle import Throttle
from intarsia.engine.service.endpoint import Listener, is_ours
from intarsia.engine.service.model_slot import CheckModel, LoadFiller, ModelSlot, check_nothing
from intarsia.engine.service.session import ClientSession, EngineHost
from intarsia.engine.service.worker import Worker

ROOM_S = 2.0
"""An engine that is to make room ends after this time without a request: no user waits then."""

LOOK_S = 5.0
"""How often the engine checks that clients can find it; shorter than a new client waits."""


class Lifetime:
    """Waits until the engine is to end. Belongs to one event loop."""

    def __init__(
        self, address: Address, listener: Listener, worker: Worker, idle_timeout_s: float
    ) -> None:
        self._address = address
        self._listener = listener
        self._worker = worker
        self._idle_timeout_s = idle_timeout_s
        self._to_make_room: str | None = None  # why
        self._to_make_room_at = 0.0
        self._has_news = asyncio.Event()

    def greeted_by(self, build: str) -> None:
        """Make room for the build of a client if this engine's program was replaced by it."""
        own = build_id()  # an upgrade replaces it; another program beside it does not
        if build != own and (is_newer(build, than=own) or build_on_disk() != own):
            self._make_room(f"build {build} has replaced this one")

    async def over(self) -> str:
        """Return why the engine is to end, when it is."""
        while True:
            await self._stay_reachable()
            left_s = self._seconds_left()
            if left_s <= 0:
                idle = f"no request for {self._idle_timeout_s:g} s, to free the memory"
                return self._to_make_room or idle
            self._has_news.clear()
            try:
                await asyncio.wait_for(self._has_news.wait(), min(left_s, LOOK_S))
            except TimeoutError:
                continue

    def _seconds_left(self) -> float:
        idle_s = self._worker.seconds_idle()
        left_s = self._idle_timeout_s - idle_s
        if self._to_make_room is None:
            return left_s
        # A client that has just said hello is given the time to ask.
        return min(left_s, ROOM_S - min(idle_s, time.monotonic() - self._to_make_room_at))

    async def _stay_reachable(self) -> None:
        """Listen again if the socket was removed, unless the address is another engine's by now."""
        if not is_ours(self._address):
            self._make_room("the engine's folder was removed")
        elif not self._listener.is_reachable():
            try:
                await self._listener.listen()
            except (EngineUnavailable, OSError) as error:
                self._make_room(f"the engine's socket was removed: {error}")

    def _make_room(self, reason: str) -> None:
        if self._to_make_room is None:
            self._to_make_room = reason
            self._to_make_room_at = time.monotonic()
            self._has_news.set()


PROGRESS_INTERVAL_S = 0.1
"""Clients get a load's progress at most once in this time."""

WORKER_PATIENCE_S = 3.0
"""How long a stopping engine waits for the forward pass that runs."""

_log = logging.getLogger(__name__)


class Service:
    """An engine for one address: call ``run`` once; ``request_stop`` ends it in good order."""

    def __init__(
        self,
        config: EngineConfig,
        load_filler: LoadFiller,
        address: Address,
        *,
        check_model: CheckModel = check_nothing,
    ) -> None:
        self._config = config
        self._started_at = time.monotonic()
        self._process = psutil.Process()
        self._last_resident_bytes = 0
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._sessions: dict[asyncio.Task[None], ClientSession] = {}
        self._ahead = AheadReport()
        self._latest_progress: LoadProgress | None = None
        self._progress = Throttle(self._send_progress, PROGRESS_INTERVAL_S)
        slot = ModelSlot(config, load_filler, self._on_progress, check_model=check_model)
        # When the worker's thread has ended, the next request starts another engine.
        self._worker = Worker(slot, on_end=lambda: self._call_soon(self.request_stop))
        token = secrets.token_urlsafe(32) if address.transport == "tcp" else ""
        self._listener = Listener(address, token, self._accept)
        self._lifetime = Lifetime(address, self._listener, self._worker, config.idle_timeout_s)
        self._host = EngineHost(
            token=token,
            worker=self._worker,
            call_soon=self._call_soon,
            status=self._status,
            take_report=self._take_report,
            greeted_by=self._lifetime.greeted_by,
            request_stop=self.request_stop,
        )

    async def run(self) -> bool:
        """Serve until stopped or idle for too long; return whether the worker has ended too."""
        await self._listener.listen()
        self._worker.start()
        lifetime = asyncio.create_task(self._stop_when_over())
        try:
            await self._stopping.wait()
        finally:
            lifetime.cancel()
            self._listener.stop()
            has_ended = await self._end_sessions()
        return has_ended

    def request_stop(self) -> None:
        """End ``run``. Call it on the event loop."""
        self._stopping.set()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = ClientSession(reader, writer, self._host)
        task = asyncio.create_task(self._serve(session))
        self._sessions[task] = session
        task.add_done_callback(self._sessions.pop)

    async def _serve(self, session: ClientSession) -> None:
        try:
            await session.serve(self._latest_progress if self._worker.state == "loading" else None)
        except Exception:  # noqa: BLE001 one client's fault must not reach the others
            _log.exception("a session failed")
        finally:
            await session.close()

    async def _stop_when_over(self) -> None:
        _log.info("ending: %s", await self._lifetime.over())
        self.request_stop()

    async def _end_sessions(self) -> bool:
        has_ended = await asyncio.to_thread(self._worker.stop, WORKER_PATIENCE_S)
        self._progress.stop()
        await asyncio.sleep(0)  # the worker's last answers reach the outboxes now
        for task in self._sessions:
            task.cancel()
        if self._sessions:
            await asyncio.wait(list(self._sessions))
        return has_ended

    def _call_soon(self, callback: Callable[..., None], *arguments: object) -> None:
        if not self._loop.is_closed():  # a load may outlive the loop
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _on_progress(self, stage: str, fraction: float | None) -> None:
        self._worker.note_step()
        self._call_soon(self._report, LoadProgress(stage=stage, fraction=fraction))

    def _report(self, progress: LoadProgress) -> None:
        self._latest_progress = progress
        self._progress.put(progress)

    def _send_progress(self, progress: LoadProgress) -> None:
        for session in self._sessions.values():
            if session.is_welcome:
                session.send(progress)

    def _take_report(self, report: AheadReport) -> None:
        self._ahead = summed(self._ahead, report)

    def _status(self, id: int) -> Status:
        info = self._worker.model_info
        return Status(
            id=id,
            pid=os.getpid(),
            build=build_id(),
            state=self._worker.state,
            model=info.name if info else None,
            family=info.family if info else None,
            device=info.device if info else None,
            dtype=info.dtype if info else None,
            notes=info.notes if info else (),
            resident_bytes=self._resident_bytes(),
            cached_tokens=self._worker.cached_tokens,
            num_fills=self._worker.num_fills,
            num_clients=sum(session.is_welcome for session in self._sessions.values()),
            uptime_s=time.monotonic() - self._started_at,
            idle_timeout_s=self._config.idle_timeout_s,
            quiet_s=self._worker.seconds_quiet(),
            prefill_tokens_per_s=self._worker.prefill_tokens_per_s,
            ahead=self._ahead,
            cache_folder=str(cache_folder()),
        )

    def _resident_bytes(self) -> int:
        """Return the memory in use, the last known where the system opens no more files to tell."""
        with contextlib.suppress(OSError, psutil.Error):
            self._last_resident_bytes = self._process.memory_info().rss
        return self._last_resident_bytes
