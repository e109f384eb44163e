"""Runs at most one request per document: a newer one ends the older, which gets no result.

Not every client cancels an outdated request, but the engine should not work for one.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class LatestRequest:
    """The running request of each document."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}

    async def run(self, uri: str, request: Coroutine[Any, Any, Result]) -> Result | None:
        """Return the result; None where a newer request of the document ended this one."""
        self.end(uri)
        task = asyncio.create_task(request)
        self._running[uri] = task
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            if self._running.get(uri) is task:
                del self._running[uri]
        return None if task.cancelled() else task.result()

    def end(self, uri: str) -> None:
        """Cancel the document's request, if one runs."""
        if task := self._running.get(uri):
            task.cancel()

    def end_all(self) -> None:
        """Cancel every request."""
        for task in self._running.values():
            task.cancel()
