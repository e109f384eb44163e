"""At most one value in each interval: the first at once, then the newest. Of one event loop."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Paced(Generic[Value]):
    """Takes any number of values and sends on what the interval (seconds) allows."""

    def __init__(self, send: Callable[[Value], None], interval: float) -> None:
        self._send = send
        self._interval = interval
        self._pending: Value | None = None
        self._timer: asyncio.TimerHandle | None = None

    def put(self, value: Value) -> None:
        """Send it now or when its turn comes, unless a newer one takes its place."""
        self._pending = value
        if self._timer is None:
            self._flush()

    def drop(self) -> None:
        """Forget what waits for its turn."""
        self._pending = None

    def _flush(self) -> None:
        self._timer = None
        if self._pending is None:
            return
        value, self._pending = self._pending, None
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._flush)
        self._send(value)
