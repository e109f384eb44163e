"""The one thread that runs the model: jobs come from the event loop, answers go back to it.

``scheduler.py`` chooses the next waiting job. A long fill is suspended between two forward passes
while a short one runs. Knows no sockets.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Literal, TypeAlias

from intarsia.engine.errors import Cancelled, RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler, ModelInfo
from intarsia.engine.ipc.messages import (
    Failed,
    Fill,
    Filled,
    Prefetch,
    Preload,
    ScoreTexts,
)
from intarsia.engine.service.failures import describe_failure, is_device_lost
from intarsia.engine.service.job import Answer, Job, Loaded
from intarsia.engine.service.model_slot import ModelSlot
from intarsia.engine.service.scheduler import RunClock, Scheduler, UsualTimes, any_job

State: TypeAlias = Literal["idle", "loading", "ready", "filling"]

PAUSE_S = 0.3
"""After this pause since its last job, longer than between two keys, the thread uses idle time."""

BEHIND_PAUSE_S = 0.03
"""The same while code of other files waits to be read: a key then waits for one short chunk."""

REST_PAUSE_S = 3.0
"""After this pause, the model lets go of what it holds open for requests, such as connections."""

MAX_STEP_S = 60.0
"""A job that made no step for this long does not keep the engine from ending as idle."""

TIME_SLICE_S = 0.5
"""A foreground fill runs this long before it may be suspended: most have ended by then."""

MAX_SUSPENDED = 4
"""Fills that may be suspended at once: each holds its context."""

MAX_SUSPENDED_FOR_SHORT = 6
"""The same if the next fill is short: it need not wait for the end of a long one."""

_log = logging.getLogger(__name__)


class Worker:
    """Owns the model slot and its thread; ``submit`` and ``cancel`` return at once."""

    def __init__(self, slot: ModelSlot, on_end: Callable[[], None] = lambda: None) -> None:
        """``on_end`` is called on the thread when it ends, for whatever reason."""
        self._slot = slot
        self._on_end = on_end
        self._waiting = Scheduler[Job]()
        self._places: dict[str, Prefetch] = {}  # to read, by owner
        self._running: list[Job] = []  # all but the last are suspended
        self._usual_times = UsualTimes()
        self._is_stopping = False
        self._changed = threading.Condition()
        # A daemon: a load cannot be interrupted and must not keep a stopped process alive.
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)
        self._last_work_ended_at = self._last_step_at = time.monotonic()
        self.cached_tokens = 0
        self.num_fills = 0
        self.prefill_tokens_per_s: float | None = None  # of the loaded model

    @property
    def state(self) -> State:
        """The thread's present work, as ``intarsia status`` shows it."""
        if self._slot.is_loading:
            return "loading"
        if self._running:
            return "filling"
        return "idle" if self._slot.filler is None else "ready"

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs: without it, no job is answered."""
        return self._thread.is_alive()

    @property
    def model_info(self) -> ModelInfo | None:
        filler = self._slot.filler
        return None if filler is None else filler.info

    @property
    def num_waiting(self) -> int:
        """The jobs that have not begun."""
        return len(self._waiting)

    def seconds_idle(self) -> float:
        """Return the seconds since the last job ended, 0 while there are jobs that go on."""
        with self._changed:
            is_busy = bool(self._running or self._waiting)
            ended_at = self._last_work_ended_at
        if not is_busy:
            return time.monotonic() - ended_at
        return 0.0 if self._slot.is_loading else max(0.0, self.seconds_quiet() - MAX_STEP_S)

    def seconds_quiet(self) -> float:
        """Return the seconds since the thread last began, went on with, or ended any work."""
        return time.monotonic() - self._last_step_at

    def note_step(self) -> None:
        """Record that the thread goes on: it calls this itself, at each checkpoint."""
        self._last_step_at = time.monotonic()

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Schedule a job; if the worker is stopping, the job fails at once."""
        with self._changed:
            if not self._is_stopping:
                self._waiting.add((job.client, job.is_background), job)
                self._changed.notify()
                return
        job.fail_as_cancelled("the engine is stopping: try again")

    def prefetch(self, place: Prefetch) -> None:
        """Read a context in idle time; only an owner's newest place counts."""
        with self._changed:
            self._places[place.owner] = place
            self._changed.notify()

    def cancel(self, job: Job) -> None:
        """Cancel a job: a waiting one is answered now, a running one at its next checkpoint."""
        job.cancelled.set()
        with self._changed:
            was_waiting = self._waiting.remove(job)
            self._changed.notify()
        if was_waiting:
            job.fail_as_cancelled()

    def stop(self, patience_s: float) -> bool:
        """Cancel every job; return whether the thread ended within ``patience_s``."""
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
            while (job := self._wait_for_job()) is not None:
                self._answer_and_deliver(job)
            self._rest()
        finally:
            self._on_end()

    def _answer_and_deliver(self, job: Job) -> None:
        """Run a job that is already in ``_running``."""
        try:
            answer = self._answer(job)
        finally:
            with self._changed:
                self._running.pop()
                self._last_work_ended_at = self._last_step_at = time.monotonic()
        job.deliver(answer)

    def _start_next(self, is_allowed: Callable[[Job], bool] = any_job) -> Job | None:
        """Move the next allowed job from waiting to running. Call it with the lock held."""
        job = self._waiting.pop(lambda job: _is_waited_for(job) and is_allowed(job))
        job = job or self._waiting.pop(is_allowed)
        if job is not None:
            self.note_step()
            self._running.append(job)
        return job

    def _answer(self, job: Job) -> Answer:
        try:
            return self._run(job)
        except BaseException as error:  # noqa: BLE001 a panic of Rust code is no Exception
            return self._failed(job, error)

    def _run(self, job: Job) -> Answer:
        is_other = self._slot.filler is not None and self._slot.loaded(job.request.model) is None
        if job.is_for_idle_time and is_other:
            raise Cancelled  # a model that a user waits for must not be put out
        filler = self._slot.take(job.request.model)
        if isinstance(job.request, Preload):
            return Loaded(id=job.request.id)
        if job.cancelled.is_set():
            raise Cancelled
        if isinstance(job.request, Fill):
            return self._fill(job, job.request, filler)
        if isinstance(job.request, ScoreTexts):
            return filler.score_texts(job.request, self._background_control_of(job, filler))
        control_of = self._idle_control_of if job.is_for_idle_time else self._background_control_of
        return filler.find_next_edits(job.request, control_of(job, filler))

    def _fill(self, job: Job, request: Fill, filler: Filler) -> Filled:
        clock = RunClock()
        control = FillControl.for_request(
            request,
            received_at=job.received_at,
            on_step=job.on_step if request.watch else None,
            checkpoint=self._preemption_point(job, filler, clock),
        )
        try:
            filled = filler.fill(request, control)
        except RemoteError as error:
            if not error.falls_back or request.is_ahead:
                raise
            _log.warning("the local model answers: %s", error)
            return self._fill(job, request, self._slot.take_local())
        self.num_fills += not request.is_ahead
        if not job.is_background:
            self._usual_times.note(job.client, clock.run_s)
        self._note_use(filler)
        return filled

    def _idle_control_of(self, job: Job, filler: Filler) -> FillControl:
        """Return the control of a job for idle time only.

        Foreground fills and prefetches run at its checkpoints, and a pause must follow. For any
        other job that a user waits for, it is given up.
        """

        def is_over() -> bool:
            return job.cancelled.is_set() or self._is_waited_for() or bool(self._places)

        def checkpoint() -> None:
            self.note_step()
            while not job.cancelled.is_set() and self._run_something_better(job, filler):
                with self._changed:
                    self._changed.wait_for(is_over, PAUSE_S)
            if job.cancelled.is_set() or self._is_waited_for():
                raise Cancelled

        return FillControl(received_at=job.received_at, checkpoint=checkpoint)

    def _background_control_of(self, job: Job, filler: Filler) -> FillControl:
        """Return the control of a job that lets any foreground fill run at its checkpoints."""

        def checkpoint() -> None:
            if self._waiting:
                self._run_another_fill(job, filler)
            if job.cancelled.is_set():
                raise Cancelled

        return FillControl(received_at=job.received_at, checkpoint=checkpoint)

    def _run_something_better(self, job: Job, filler: Filler) -> bool:
        """Run a waiting foreground fill or a prefetch; return whether there was one."""
        if self._run_another_fill(job, filler):
            return True
        with self._changed:
            place = self._take_place()
        if place is not None:
            self._prefetch(place)
        return place is not None

    def _note_use(self, filler: Filler) -> None:
        self.cached_tokens = filler.cached_tokens()
        self.prefill_tokens_per_s = filler.prefill_tokens_per_s()

    def _preemption_point(self, job: Job, filler: Filler, clock: RunClock) -> Callable[[], None]:
        """Return the checkpoint of a fill: other fills may run inside it.

        At each checkpoint one waiting fill runs that is shorter, or any that is not usually much
        longer once the time slice is over. So between any two of these the suspended fill makes a
        forward pass.
        """
        slice_s = 0.0 if job.is_background else TIME_SLICE_S

        def is_shorter(other: Job) -> bool:
            return self._usual_times.is_shorter(other.client, job.client, clock.run_s)

        def is_not_much_longer(other: Job) -> bool:
            return job.is_background or not self._usual_times.is_much_longer(
                other.client, job.client
            )

        def run_another() -> bool:
            if self._run_another_fill(job, filler, is_shorter, MAX_SUSPENDED_FOR_SHORT):
                return True
            is_slice_over = clock.slice_s >= slice_s
            return is_slice_over and self._run_another_fill(job, filler, is_not_much_longer)

        def checkpoint() -> None:
            suspended_at = self._last_step_at = time.monotonic()
            if self._waiting and run_another():
                clock.resume(suspended_at)
            if job.cancelled.is_set():
                raise Cancelled

        return checkpoint

    def _run_another_fill(
        self,
        job: Job,
        filler: Filler,
        may_go_first: Callable[[Job], bool] = any_job,
        max_suspended: int = MAX_SUSPENDED,
    ) -> bool:
        """Suspend a job while one waiting fill of its model runs; return whether there was one."""

        def is_allowed(other: Job) -> bool:
            """No model is loaded within a fill, and background fills wait for its end."""
            is_foreground = isinstance(other.request, Fill) and not other.is_background
            is_same = is_foreground and self._slot.loaded(other.request.model) is filler
            return is_same and may_go_first(other)

        with self._changed:
            has_room = len(self._running) <= max_suspended and not job.cancelled.is_set()
            other = self._start_next(is_allowed) if has_room else None
        if other is None:
            return False
        with filler.suspended() if isinstance(job.request, Fill) else nullcontext():
            self._answer_and_deliver(other)
        return True

    def _failed(self, job: Job, error: BaseException) -> Failed:
        if is_device_lost(error):
            self._is_stopping = True  # the thread ends after this answer, and the engine with it
        code, message = describe_failure(error, doing="filling")
        if code == "internal":
            _log.error("%s", message, exc_info=error)
        elif code != "cancelled":
            _log.warning("%s", message)
        return Failed(id=job.request.id, code=code, message=message)

    def _wait_for_job(self) -> Job | None:
        """Use idle time until there is a job, and start it; None if the worker is to stop."""
        with self._changed:
            is_behind = self._slot.filler is not None and self._slot.filler.is_behind
            pause_s = BEHIND_PAUSE_S if is_behind else PAUSE_S
            is_pause = not self._changed.wait_for(self._is_waited_for, pause_s)
        if is_pause and (filler := self._slot.filler) is not None:
            self._use_pause(filler, lambda: filler.prepare(self._idle_control(self._is_waited_for)))
        while True:
            while (place := self._wait_for_place()) is not None:
                self._prefetch(place)
            with self._changed:
                if self._is_stopping:
                    return None
                if (job := self._start_next()) is not None:
                    return job
            # It was cancelled just now: idle time goes on.

    def _wait_for_place(self) -> Prefetch | None:
        """Wait for a place to prefetch; None as soon as there is a job, which is newer than it."""
        with self._changed:
            is_pause = not self._changed.wait_for(self._has_job_or_place, REST_PAUSE_S)
        if is_pause:
            self._rest()
        with self._changed:
            self._changed.wait_for(self._has_job_or_place)
            return self._take_place()

    def _take_place(self) -> Prefetch | None:
        """Return a place to prefetch, once, if nothing is waited for."""
        if self._is_waited_for():
            self._places = {
                owner: place
                for owner, place in self._places.items()
                if not self._has_newer_fill(owner)
            }
            return None
        owner = next(iter(self._places), None)
        return None if owner is None else self._places.pop(owner)

    def _prefetch(self, place: Prefetch) -> None:
        if (filler := self._slot.loaded(place.model)) is None:
            return
        control = self._idle_control(lambda: self._is_waited_for() or place.owner in self._places)
        if not self._use_pause(filler, lambda: filler.prefetch(place, control)):
            with self._changed:
                if not self._has_newer_fill(place.owner):
                    self._places.setdefault(place.owner, place)  # after the background's

    def _rest(self) -> None:
        if (filler := self._slot.filler) is not None:
            self._use_pause(filler, filler.rest)

    def _has_newer_fill(self, owner: str) -> bool:
        """Whether a foreground fill waits that an owner has sent after a place to prefetch."""
        return self._waiting.has(
            lambda job: (
                isinstance(job.request, Fill)
                and not job.is_background
                and job.request.owner == owner
            )
        )

    def _is_waited_for(self) -> bool:
        return self._is_stopping or self._waiting.has(_is_waited_for)

    def _has_job_or_place(self) -> bool:
        return bool(self._waiting or self._places) or self._is_stopping

    def _idle_control(self, is_over: Callable[[], bool]) -> FillControl:
        """Return the control of idle work that ends as soon as something better is to be done."""

        def checkpoint() -> None:
            self.note_step()
            if is_over():
                raise Cancelled

        return FillControl(checkpoint=checkpoint)

    def _use_pause(self, filler: Filler, work: Callable[[], None]) -> bool:
        """Return whether the work came to its end, even by an error."""
        is_cancelled = False
        try:
            work()
        except Cancelled:
            is_cancelled = True
        except BaseException as error:  # noqa: BLE001 no request asked for this: none fails
            _log.warning("idle time went unused: %r", error)
        self._note_use(filler)
        return not is_cancelled


def _is_waited_for(job: Job) -> bool:
    return not job.is_for_idle_time
