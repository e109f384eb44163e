"""At most one request a document is worked on: a newer one ends the older, which gets no result.

Not every client cancels a request that it has outrun; the engine must not work for it all the same.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class LatestRequest:
    """The request that runs for each document."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}

    async def run(self, uri: str, work: Coroutine[Any, Any, Result]) -> Result | None:
        """Return the work's result; None when a newer request of the document ended it."""
        self.end(uri)
        task = asyncio.create_task(work)
        self._running[uri] = task
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            if self._running.get(uri) is task:
                del self._running[uri]
        return None if task.cancelled() else task.result()

    def end(self, uri: str) -> None:
        """End the document's request, if one runs."""
        if task := self._running.get(uri):
            task.cancel()

    def end_all(self) -> None:
        """End every request."""
        for task in self._running.values():
            task.cancel()
