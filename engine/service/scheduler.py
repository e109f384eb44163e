"""Which waiting job runs next: fair between clients, newest first within one client.

Each client has queues, known by any hashable key. Of the queues, the one that was served least
recently goes first, so a client that asks often gains nothing over one that asks seldom. Within a
queue the newest job goes first, because it belongs to the latest keystroke. Every few pops the
oldest job goes instead, so no job waits for ever. Knows no threads.
"""

import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

OLDEST_EVERY = 4
"""One of this many pops that could pass over a queue's oldest job takes it."""

MAX_QUEUES = 256
"""Queues that are remembered at once; a forgotten one counts as new."""

T = TypeVar("T")


def any_job(job: object) -> bool:
    return True


class Scheduler(Generic[T]):
    """The waiting jobs. A job is compared by identity, a queue by its key.

    A new queue is placed right after those that have jobs. So each queue that goes before a given
    job goes only once, and all of these queues existed when the job was added.
    """

    def __init__(self) -> None:
        self._queues: list[_ClientQueue[T]] = []  # served least recently first

    def __len__(self) -> int:
        return sum(len(queue.jobs) for queue in self._queues)

    def add(self, key: Hashable, job: T) -> None:
        """Put a job into the queue with this key."""
        queue = next((queue for queue in self._queues if queue.key == key), None)
        (queue or self._new_queue(key)).jobs.append(job)

    def remove(self, job: T) -> bool:
        """Remove a job; return whether it was waiting."""
        for queue in self._queues:
            for index, other in enumerate(queue.jobs):
                if other is job:
                    del queue.jobs[index]
                    return True
        return False

    def pop(self, is_allowed: Callable[[T], bool] = any_job) -> T | None:
        """Remove and return the next of the allowed jobs, None if there is none."""
        for index, queue in enumerate(self._queues):
            if (job := queue.pop(is_allowed)) is not None:
                self._queues.append(self._queues.pop(index))
                return job
        return None

    def has(self, is_wanted: Callable[[T], bool]) -> bool:
        return any(is_wanted(job) for queue in self._queues for job in queue.jobs)

    def pop_all(self) -> list[T]:
        jobs = [job for queue in self._queues for job in queue.jobs]
        self._queues.clear()
        return jobs

    def _new_queue(self, key: Hashable) -> "_ClientQueue[T]":
        """Add a queue; at the limit, an empty one is forgotten."""
        if len(self._queues) >= MAX_QUEUES:
            empty = (index for index, queue in enumerate(self._queues) if not queue.jobs)
            if (index := next(empty, None)) is not None:
                del self._queues[index]
        after_waiting = max(
            (i + 1 for i, queue in enumerate(self._queues) if queue.jobs), default=0
        )
        self._queues.insert(after_waiting, queue := _ClientQueue[T](key))
        return queue


class _ClientQueue(Generic[T]):
    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.jobs: list[T] = []  # oldest first
        self._num_passed_over = 0  # consecutive pops in which the oldest was passed over

    def pop(self, is_allowed: Callable[[T], bool]) -> T | None:
        allowed = [index for index, job in enumerate(self.jobs) if is_allowed(job)]
        if not allowed:
            return None
        is_oldest = self._num_passed_over + 1 >= OLDEST_EVERY or len(allowed) == 1
        self._num_passed_over = 0 if is_oldest else self._num_passed_over + 1
        return self.jobs.pop(allowed[0] if is_oldest else allowed[-1])


SHORTER = 2.0
"""By this factor a waiting fill must be shorter than what is left of the running one."""

MUCH_LONGER = 4.0
"""By this factor a client's fills usually take longer than another's, if they may wait for them."""

WORTH_S = 0.05
"""A fill that probably ends within this time is not interrupted."""

_NUM_NEWEST = 4
"""The lower median of these is usual: a single long fill, at a new place, does not count."""

_MAX_CLIENTS = 256


class UsualTimes:
    """Seconds that fills run, without the time for which they are suspended, by client."""

    def __init__(self) -> None:
        # The client that was served last comes last.
        self._seconds: dict[Hashable, deque[float]] = {}

    def note(self, client: Hashable, seconds: float) -> None:
        """Record a fill that has ended."""
        newest = self._seconds.pop(client, deque(maxlen=_NUM_NEWEST))
        newest.append(seconds)
        self._seconds[client] = newest
        if len(self._seconds) > _MAX_CLIENTS:
            del self._seconds[next(iter(self._seconds))]

    def of(self, client: Hashable) -> float | None:
        """Return how long a client's fills usually run; None before the first has ended."""
        newest = sorted(self._seconds.get(client, ()))
        return newest[(len(newest) - 1) // 2] if newest else None

    def is_shorter(self, waiting: Hashable, running: Hashable, run_s: float) -> bool:
        """Return whether a client's waiting fill is shorter than the rest of a running one.

        ``run_s``: how long that has run. One that takes longer than usual is taken to be half done.
        """
        usual_s = self.of(waiting)
        if usual_s is None:
            return False
        left_s = max((self.of(running) or 0.0) - run_s, run_s)
        return left_s > max(WORTH_S, SHORTER * usual_s)

    def is_much_longer(self, waiting: Hashable, running: Hashable) -> bool:
        """Return whether a waiting client's fills usually run much longer than another's."""
        waiting_s, running_s = self.of(waiting), self.of(running)
        if waiting_s is None or running_s is None:
            return False
        return waiting_s > MUCH_LONGER * max(running_s, WORTH_S)


class RunClock:
    """The clock of one fill, which runs from now on."""

    def __init__(self) -> None:
        self._started_at = self._resumed_at = time.monotonic()

    @property
    def run_s(self) -> float:
        """Seconds that the fill has run."""
        return time.monotonic() - self._started_at

    @property
    def slice_s(self) -> float:
        """Seconds since its start, or since it was resumed."""
        return time.monotonic() - self._resumed_at

    def resume(self, suspended_at: float) -> None:
        """Let it run again, after a suspension at that time.monotonic()."""
        self._resumed_at = time.monotonic()
        self._started_at += self._resumed_at - suspended_at
