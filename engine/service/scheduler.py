"""Which waiting job runs next: fair between clients, newest first within one client.

Each client has queues, known by any hashable key. Of the queues, the one that was served least
recently goes first, so a client that asks often gains nothing over one that asks seldom. Within a
queue the newest job goes first, because it belongs to the latest keystroke. Every few pops the
oldest job goes instead, so no job waits for ever. Knows no threads.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

OLDEST_EVERY = 4
"""Every this many pops in which a queue's oldest job could be passed over, it is popped."""

MAX_QUEUES = 256
"""Queues that are remembered at once; a forgotten one counts as new."""

T = TypeVar("T")


def any_job(job: object) -> bool:
    """Allow any job."""
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
        """Tell whether such a job waits."""
        return any(is_wanted(job) for queue in self._queues for job in queue.jobs)

    def pop_all(self) -> list[T]:
        """Remove and return all waiting jobs."""
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
