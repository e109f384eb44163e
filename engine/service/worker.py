"""The one thread that runs the model: jobs go in from the event loop, answers come out.

``turns.py`` says which of the jobs that wait goes next; a long one is laid aside between two passes
for a short one. Knows no sockets.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from intarsia.engine.errors import Cancelled
from intarsia.engine.filler import Filler, ModelInfo
from intarsia.engine.ipc.messages import Failed, Fill, Prefetch, Preload
from intarsia.engine.service.failures import describe_failure
from intarsia.engine.service.job import Answer, Job, Loaded
from intarsia.engine.service.model_slot import ModelSlot
from intarsia.engine.service.scheduler import Scheduler, any_job

State: TypeAlias = Literal["idle", "loading", "ready", "filling"]

PAUSE_S = 0.3
"""So long after its last job an idle thread prepares for the next: longer than between two keys."""

TIME_SLICE_S = 0.5
"""So long a fill runs before others may go between its passes: most have ended by then. One that
gives way of itself waits for nothing."""

MAX_SUSPENDED = 4
"""Fills that are laid aside at once: each holds its context."""

_log = logging.getLogger(__name__)


class Worker:
    """Owns the model slot; ``submit`` and ``cancel`` return at once."""

    def __init__(self, slot: ModelSlot, on_end: Callable[[], None] = lambda: None) -> None:
        """``on_end``: is called on the thread when it ends, for whatever reason."""
        self._slot = slot
        self._on_end = on_end
        self._waiting = Scheduler[Job]()
        self._ahead: Prefetch | None = None
        self._running: list[Job] = []  # all but the last are laid aside
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
        if self._running:
            return "filling"
        return "idle" if self._slot.filler is None else "ready"

    @property
    def model_info(self) -> ModelInfo | None:
        filler = self._slot.filler
        return None if filler is None else filler.info

    def seconds_idle(self) -> float:
        with self._changed:
            is_busy = bool(self._running or self._waiting)
            return 0.0 if is_busy else time.monotonic() - self._last_work_ended_at

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job) -> None:
        with self._changed:
            if not self._is_stopping:
                self._waiting.add((job.client, job.is_background), job)
                self._changed.notify()
                return
        job.fail_as_cancelled("the engine is stopping: try again")

    def prefetch(self, place: Prefetch) -> None:
        """Have a context read once nothing else is to be done; the newest place counts."""
        with self._changed:
            self._ahead = place
            self._changed.notify()

    def cancel(self, job: Job) -> None:
        """A waiting job is answered now, a running one between two steps."""
        job.cancelled.set()
        with self._changed:
            was_waiting = self._waiting.remove(job)
        if was_waiting:
            job.fail_as_cancelled()

    def stop(self, patience_s: float) -> bool:
        """Cancel everything; return whether the thread has ended in time."""
        with self._changed:
            self._is_stopping = True
            waiting = self._waiting.pop_all()
            for job in self._running:
                job.cancelled.set()
            self._changed.notify()
        for job in waiting:
            job.fail_as_cancelled("the engine is stopping: try again")
        self._thread.join(patience_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        try:
            while (job := self._next_job()) is not None:
                self._do(job)
        finally:
            self._on_end()

    def _do(self, job: Job) -> None:
        try:
            answer = self._answer(job)
        finally:
            with self._changed:
                self._running.pop()
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
            return None if self._is_stopping else self._take()

    def _take(self, may_go: Callable[[Job], bool] = any_job) -> Job | None:
        """Return the job whose turn it is, which runs from now on. Call it with the lock held."""
        if (job := self._waiting.pop(may_go)) is not None:
            self._running.append(job)
        return job

    def _next_place(self) -> Prefetch | None:
        """Wait for a place to read ahead at; None: there is something better to do. A request is
        newer than any place before it."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_wanted() or self._ahead is not None)
            place, self._ahead = self._ahead, None
            return None if self._is_wanted() else place

    def _is_wanted(self) -> bool:
        return bool(self._waiting) or self._is_stopping

    def _read_ahead(self, place: Prefetch) -> None:
        if (filler := self._slot.loaded(place.model)) is not None:
            self._use_pause(filler, lambda: filler.prefetch(place, self._is_elsewhere))

    def _is_elsewhere(self) -> bool:
        return self._is_wanted() or self._ahead is not None

    def _use_pause(self, filler: Filler, work: Callable[[], None]) -> None:
        try:
            work()
        except Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001 no one has asked for it: no request fails
            _log.warning("idle time went unused: %r", error)
        self.cached_tokens = filler.cached_tokens()

    def _answer(self, job: Job) -> Answer:
        try:
            return self._run(job)
        except BaseException as error:  # noqa: BLE001 a panic of Rust code is no Exception
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
            is_cancelled=self._between_passes(job, filler),
            on_step=job.on_step if job.request.watch else None,
        )
        self.num_fills += 1
        self.cached_tokens = filler.cached_tokens()
        return filled

    def _between_passes(self, job: Job, filler: Filler) -> Callable[[], bool]:
        """Return what a fill asks between two passes: whether it is cancelled. Where its turn is
        over, one that waits is done meanwhile, so that between any two of those it makes a pass."""
        turn_s = 0.0 if job.is_background else TIME_SLICE_S
        went_on_at = time.monotonic()

        def may_go(other: Job) -> bool:
            """Nothing is loaded between two passes, and a long fill goes before no other."""
            is_short = isinstance(other.request, Fill) and not other.is_background
            return is_short and self._slot.loaded(other.request.model) is filler

        def is_cancelled() -> bool:
            nonlocal went_on_at
            if self._waiting and time.monotonic() - went_on_at >= turn_s:
                with self._changed:
                    has_room = len(self._running) <= MAX_SUSPENDED and not job.cancelled.is_set()
                    other = self._take(may_go) if has_room else None
                if other is not None:
                    with filler.suspended():
                        self._do(other)
                    went_on_at = time.monotonic()
            return job.cancelled.is_set()

        return is_cancelled

    def _failed(self, job: Job, error: BaseException) -> Failed:
        code, message = describe_failure(error, doing="filling")
        if code == "internal":
            _log.error("%s", message, exc_info=error)
        elif code != "cancelled":
            _log.warning("%s", message)
        return Failed(id=job.request.id, code=code, message=message)
