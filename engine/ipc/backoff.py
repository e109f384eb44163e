"""How long to wait before a failed engine is started again.

The first wait is 0.5 s; each further failure doubles it, up to 30 s.
"""

import time
from collections.abc import Callable

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
