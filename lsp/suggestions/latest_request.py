"""When a request runs: after a pause in typing, and only the newest one of a document."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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


class LatestRequest:
    """The running request of each document."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}

    @contextmanager
    def running(self, uri: str, task: asyncio.Task[Any]) -> Iterator[None]:
        """Keep the document's request while the block waits for it."""
        self._running[uri] = task
        try:
            yield
        finally:
            task.cancel()
            if self._running.get(uri) is task:
                del self._running[uri]

    def end(self, uri: str) -> None:
        """Cancel the document's request, if one runs."""
        if task := self._running.get(uri):
            task.cancel()

    def end_all(self) -> None:
        for task in self._running.values():
            task.cancel()
