"""Serve clients at an address: a session for each on an event loop, one worker for them all."""

import asyncio
import contextlib
import logging
import os
import secrets
import time
from collections.abc import Callable

import psutil

from intarsia.engine.config import EngineConfig
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.build_id import build_id
from intarsia.engine.ipc.messages import AheadReport, LoadProgress, Status, summed
from intarsia.engine.ipc.throttle import Throttle
from intarsia.engine.service.endpoint import Listener
from intarsia.engine.service.lifetime import Lifetime, Tenancy
from intarsia.engine.service.model_slot import CheckModel, LoadFiller, ModelSlot, check_nothing
from intarsia.engine.service.session import ClientSession, EngineHost
from intarsia.engine.service.worker import Worker

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
        self._worker = Worker(slot, on_end=self._stop_with_worker)
        token = secrets.token_urlsafe(32) if address.transport == "tcp" else ""
        self._listener = Listener(address, token, self._accept)
        self._lifetime = Lifetime(
            Tenancy(
                address=address,
                listener=self._listener,
                worker=self._worker,
                idle_timeout_s=config.idle_timeout_s,
            )
        )
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

    def _stop_with_worker(self) -> None:
        """Stop when the worker's thread has ended: the next request then starts another engine."""
        self._call_soon(self.request_stop)

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
        )

    def _resident_bytes(self) -> int:
        """Return the memory in use, the last known where the system tells none.

        It opens a file for it, and a status is answered even if no more can be opened.
        """
        with contextlib.suppress(OSError, psutil.Error):
            self._last_resident_bytes = self._process.memory_info().rss
        return self._last_resident_bytes
