"""Decides how long a request waits for a pause in typing; the next key cancels it.

A single key does not wait. Among keys in quick succession, only the last is worth a request.
"""

import time
from collections.abc import Callable

QUICK_SUCCESSION_S = 0.3


class Debounce:
    """Remembers when the last request came, and for which document."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: tuple[str, float] | None = None

    def seconds_to_wait(self, uri: str, debounce_ms: int) -> float:
        """Record a request for this document; return how long it waits."""
        now, last = self._clock(), self._last
        self._last = (uri, now)
        is_single = last is None or last[0] != uri or now - last[1] > QUICK_SUCCESSION_S
        return 0.0 if is_single else debounce_ms / 1000
