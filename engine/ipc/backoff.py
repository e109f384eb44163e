"""When a failed engine may start again: after 0.5 s, doubled with every failure, up to 30 s."""

import time
from collections.abc import Callable

FIRST_DELAY_S = 0.5
LAST_DELAY_S = 30.0


class Backoff:
    """Counts failures in a row; one success forgets them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._not_before = 0.0
        self.num_failures = 0

    def failed(self) -> None:
        # The exponent is bounded, for a client may live for months beside a broken engine.
        delay = FIRST_DELAY_S * 2 ** min(self.num_failures, 16)
        self._not_before = self._clock() + min(delay, LAST_DELAY_S)
        self.num_failures += 1

    def succeeded(self) -> None:
        self.num_failures = 0
        self._not_before = 0.0

    def seconds_left(self) -> float:
        """Return how long the next start has to wait: 0 where it may be tried now."""
        return max(0.0, self._not_before - self._clock())
