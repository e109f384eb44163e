"""How long the fills of each client usually take, so that a short one need not wait for a long one.

A fill that probably ends soon may go between two passes of one that does not. Nobody knows how long
a fill will be; but one user's keys make fills of one length, and another's jobs make long ones.
Knows no threads.
"""

import time
from collections import deque
from collections.abc import Hashable

SHORTER = 2.0
"""By this factor a waiting fill must be shorter than what is left of the running one."""

MUCH_LONGER = 4.0
"""By this factor a client's fills usually take longer than another's, if they may wait for them."""

WORTH_S = 0.05
"""A fill that probably ends within this time is not interrupted."""

_NUM_NEWEST = 4
"""Of these the lower middle one is usual: a single long fill, at a new place, does not count."""

_MAX_CLIENTS = 256


class UsualTimes:
    """Seconds that fills run, without the time for which they are suspended, by client."""

    def __init__(self) -> None:
        # The client that was served last comes last.
        self._seconds: dict[Hashable, deque[float]] = {}

    def note(self, client: Hashable, seconds: float) -> None:
        """Note a fill that has ended."""
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
        """Tell whether a client's waiting fill is shorter than the rest of a running one.

        ``run_s``: how long that has run. One that takes longer than usual is taken to be half done.
        """
        usual_s = self.of(waiting)
        if usual_s is None:
            return False
        left_s = max((self.of(running) or 0.0) - run_s, run_s)
        return left_s > max(WORTH_S, SHORTER * usual_s)

    def is_much_longer(self, waiting: Hashable, running: Hashable) -> bool:
        """Tell whether the fills of a waiting client usually run much longer than another's.

        Then even a running fill that is long for once, at a new place, is not suspended for them.
        """
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
