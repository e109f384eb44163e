"""At most one value in each interval: the first at once, then the newest. Of one event loop."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from intarsia.engine.ipc.messages import LoadProgress

INTERVAL_S = 0.1


class ProgressThrottle:
    """Takes any number of reports on the event loop and passes on the newest of each interval."""

    def __init__(self, send: Callable[[LoadProgress], None]) -> None:
        self._send = send
        self._pending: LoadProgress | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.latest: LoadProgress | None = None

    def report(self, stage: str, fraction: float | None) -> None:
        self.latest = self._pending = LoadProgress(stage=stage, fraction=fraction)
        if self._timer is None:
            self._flush()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _flush(self) -> None:
        self._timer = None
        if self._pending is None:
            return
        self._send(self._pending)
        self._pending = None
        self._timer = asyncio.get_running_loop().call_later(INTERVAL_S, self._flush)


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
