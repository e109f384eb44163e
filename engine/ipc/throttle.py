"""Send at most one value in each interval: the first at once, then the newest. One event loop."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Throttle(Generic[Value]):
    """Takes any number of values and sends the newest of each interval; the last is never lost."""

    def __init__(self, send: Callable[[Value], None], interval_s: float) -> None:
        self._send = send
        self._interval_s = interval_s
        self._pending: Value | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopped = False

    def put(self, value: Value) -> None:
        """Send the value now or when the interval ends, unless a newer one replaces it."""
        if self._is_stopped:
            return
        self._pending = value
        if self._timer is None:
            self._flush()

    def drop(self) -> None:
        """Forget the value that waits for the interval's end."""
        self._pending = None

    def stop(self) -> None:
        self._is_stopped = True
        self._pending = None
        if self._timer is not None:
            self._timer.cancel()

    def _flush(self) -> None:
        self._timer = None
        if self._pending is None:
            return
        value, self._pending = self._pending, None
        self._timer = asyncio.get_running_loop().call_later(self._interval_s, self._flush)
        self._send(value)
