"""Decides how long a request waits for a pause in typing; the next key cancels it.

A key waits only where the next one will probably come within the wait: after keys in quick
succession. For any other, waiting would take time from the answer and save the engine nothing.
"""

import time
from collections.abc import Callable

QUICK_SUCCESSION = 2.0
"""Requests follow each other quickly if they are at most this many waits apart."""


class Debounce:
    """Remembers when the last request came, and for which document."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: tuple[str, float] | None = None

    def seconds_to_wait(self, uri: str, debounce_ms: int) -> float:
        """Record a request for this document; return how long it waits."""
        now, last = self._clock(), self._last
        self._last = (uri, now)
        wait_s = debounce_ms / 1000
        is_quick = (
            last is not None and last[0] == uri and now - last[1] <= QUICK_SUCCESSION * wait_s
        )
        return wait_s if is_quick else 0.0
