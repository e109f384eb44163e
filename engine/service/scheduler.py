"""Whose turn it is: jobs that wait, each in a line, come in; the one that goes next comes out.

Between lines, the one that was served least recently goes first: a line that asks often stands no
nearer than one that asks seldom. Within a line the newest goes first, for it is the latest
keystroke, but every so often the oldest. So no job waits for ever. Knows no threads.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

OLDEST_EVERY = 4
"""Of so many turns in which a line's oldest job could be passed over, it has the last one."""

MAX_LINES = 256
"""So many lines are remembered; one that is forgotten counts as new."""

T = TypeVar("T")


def anyone(job: object) -> bool:
    """Let any job go."""
    return True


class Turns(Generic[T]):
    """Jobs that wait. A job is known by its identity, a line by any key.

    A line that is new goes right behind those that wait. So of the lines that go before a job, each
    goes but once, and all of them were known when it came.
    """

    def __init__(self) -> None:
        self._lines: list[_Line[T]] = []  # served least recently first

    def __len__(self) -> int:
        return sum(len(line.waiting) for line in self._lines)

    def add(self, line: Hashable, job: T) -> None:
        """Have a job wait in its line."""
        known = next((it for it in self._lines if it.key == line), None)
        (known or self._new_line(line)).waiting.append(job)

    def remove(self, job: T) -> bool:
        """Have a job wait no more; return whether it did."""
        for line in self._lines:
            for at, other in enumerate(line.waiting):
                if other is job:
                    del line.waiting[at]
                    return True
        return False

    def take(self, may_go: Callable[[T], bool] = anyone) -> T | None:
        """Return the job whose turn it is among those that may go; it waits no more."""
        for at, line in enumerate(self._lines):
            if (job := line.take(may_go)) is not None:
                self._lines.append(self._lines.pop(at))
                return job
        return None

    def take_all(self) -> list[T]:
        """Return all that wait; nobody waits any more."""
        waiting = [job for line in self._lines for job in line.waiting]
        self._lines.clear()
        return waiting

    def _new_line(self, key: Hashable) -> "_Line[T]":
        """Forget a line for it where there are many."""
        if len(self._lines) >= MAX_LINES:
            empty = (at for at, it in enumerate(self._lines) if not it.waiting)
            if (at := next(empty, None)) is not None:
                del self._lines[at]
        behind = max((at + 1 for at, it in enumerate(self._lines) if it.waiting), default=0)
        self._lines.insert(behind, line := _Line[T](key))
        return line


class _Line(Generic[T]):
    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.waiting: list[T] = []  # oldest first
        self._num_passed = 0  # turns in which the oldest was passed over, one after the other

    def take(self, may_go: Callable[[T], bool]) -> T | None:
        ready = [at for at, job in enumerate(self.waiting) if may_go(job)]
        if not ready:
            return None
        is_oldest = self._num_passed + 1 >= OLDEST_EVERY or len(ready) == 1
        self._num_passed = 0 if is_oldest else self._num_passed + 1
        return self.waiting.pop(ready[0] if is_oldest else ready[-1])
