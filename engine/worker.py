"""The one thread that runs the model: jobs go in from the event loop, answers come out.

Of the jobs that wait, the newest goes first: it is the latest keystroke. Knows no sockets.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from intarsia.engine.failures import describe_failure
from intarsia.engine.filler import Cancelled, Filler, ModelInfo
from intarsia.engine.ipc.messages import Failed, Fill, Filled, Preload, ReadAhead, Step
from intarsia.engine.model_slot import ModelSlot

State: TypeAlias = Literal["idle", "loading", "ready", "filling"]

PAUSE_S = 0.3
"""So long after its last job an idle thread prepares for the next: longer than between two keys."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """The answer to a Preload."""

    id: int


Answer: TypeAlias = Filled | Failed | Loaded


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Job:
    """One request. ``deliver`` is called once, ``on_step`` any number of times, on any thread."""

    request: Fill | Preload
    received_at: float  # time.monotonic()
    deliver: Callable[[Answer], None]
    on_step: Callable[[Step], None] | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    def fail_as_cancelled(self, reason: str = "cancelled") -> None:
        self.deliver(Failed(id=self.request.id, code="cancelled", message=reason))


class Worker:
    """Owns the model slot; ``submit`` and ``cancel`` return at once."""

    def __init__(self, slot: ModelSlot) -> None:
        self._slot = slot
        self._waiting: list[Job] = []
        self._ahead: ReadAhead | None = None
        self._running: Job | None = None
        self._is_stopping = False
        self._changed = threading.Condition()
        # A daemon, for a load cannot be interrupted and must not keep a stopped process alive.
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)
        self._last_work_ended_at = time.monotonic()
        self.cached_tokens = 0
        self.num_fills = 0

    @property
    def state(self) -> State:
        if self._slot.is_loading:
            return "loading"
        if self._running is not None:
            return "filling"
        return "idle" if self._slot.filler is None else "ready"

    @property
    def model_info(self) -> ModelInfo | None:
        filler = self._slot.filler
        return None if filler is None else filler.info

    def seconds_idle(self) -> float:
        with self._changed:
            is_busy = self._running is not None or self._waiting
            return 0.0 if is_busy else time.monotonic() - self._last_work_ended_at

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job) -> None:
        with self._changed:
            if not self._is_stopping:
                self._waiting.append(job)
                self._changed.notify()
                return
        job.fail_as_cancelled("the engine is stopping: try again")

    def read_ahead(self, place: ReadAhead) -> None:
        """Have a context read once nothing else is to be done; the newest place counts."""
        with self._changed:
            self._ahead = place
            self._changed.notify()

    def cancel(self, job: Job) -> None:
        """A waiting job is answered now, a running one between two steps."""
        job.cancelled.set()
        with self._changed:
            if job not in self._waiting:
                return
            self._waiting.remove(job)
        job.fail_as_cancelled()

    def stop(self, patience_s: float) -> bool:
        """Cancel everything; return whether the thread has ended in time."""
        with self._changed:
            self._is_stopping = True
            waiting, self._waiting = self._waiting, []
            if self._running is not None:
                self._running.cancelled.set()
            self._changed.notify()
        for job in waiting:
            job.fail_as_cancelled("the engine is stopping: try again")
        self._thread.join(patience_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            answer = self._answer(job)
            with self._changed:
                self._running = None
                self._last_work_ended_at = time.monotonic()
            job.deliver(answer)

    def _next_job(self) -> Job | None:
        with self._changed:
            is_pause = not self._changed.wait_for(self._is_wanted, PAUSE_S)
        if is_pause and (filler := self._slot.filler) is not None:
            self._use_pause(filler, lambda: filler.prepare(self._is_wanted))
        while (place := self._next_place()) is not None:
            self._read_ahead(place)
        with self._changed:
            self._changed.wait_for(self._is_wanted)
            if self._is_stopping:
                return None
            self._running = self._waiting.pop()
            return self._running

    def _next_place(self) -> ReadAhead | None:
        """Wait for a place to read ahead at; None: there is something better to do. A request is
        newer than any place before it."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_wanted() or self._ahead is not None)
            place, self._ahead = self._ahead, None
            return None if self._is_wanted() else place

    def _is_wanted(self) -> bool:
        return bool(self._waiting) or self._is_stopping

    def _read_ahead(self, place: ReadAhead) -> None:
        if (filler := self._slot.loaded(place.model)) is not None:
            self._use_pause(filler, lambda: filler.read_ahead(place, self._is_elsewhere))

    def _is_elsewhere(self) -> bool:
        return self._is_wanted() or self._ahead is not None

    def _use_pause(self, filler: Filler, work: Callable[[], None]) -> None:
        try:
            work()
        except Cancelled:
            pass
        except Exception as error:  # noqa: BLE001 nobody has asked for it: no request fails of it
            _log.warning("idle time went unused: %r", error)
        self.cached_tokens = filler.cached_tokens()

    def _answer(self, job: Job) -> Answer:
        try:
            return self._run(job)
        except Exception as error:  # noqa: BLE001 the thread must outlive whatever a model does
            return self._failed(job, error)

    def _run(self, job: Job) -> Answer:
        filler = self._slot.take(job.request.model)
        if isinstance(job.request, Preload):
            return Loaded(id=job.request.id)
        if job.cancelled.is_set():
            raise Cancelled
        filled = filler.fill(
            job.request,
            received_at=job.received_at,
            is_cancelled=job.cancelled.is_set,
            on_step=job.on_step if job.request.watch else None,
        )
        self.num_fills += 1
        self.cached_tokens = filler.cached_tokens()
        return filled

    def _failed(self, job: Job, error: Exception) -> Failed:
        name = self._slot.name_for(job.request.model)
        doing = f"loading {name}" if self._slot.filler is None else "filling"
        code, message = describe_failure(error, doing=doing)
        if code == "internal":
            _log.error("%s", message, exc_info=error)
        elif code != "cancelled":
            _log.warning("%s", message)
        return Failed(id=job.request.id, code=code, message=message)
