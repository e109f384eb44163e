"""An HTTP response of server-sent events that ends as soon as its client has gone.

The format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_T = TypeVar("_T")

NO_BUFFERING: Mapping[str, str] = {"cache-control": "no-store", "x-accel-buffering": "no"}


def event(name: str, data: bytes) -> bytes:
    """Return one event; the data are JSON, which has no line ends."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


class EventResponse(Response):
    """Sends events as they come, until the last one or until the client has gone.

    ``on_end`` is called then, whatever has happened.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncIterator[bytes],
        *,
        headers: Mapping[str, str],
        on_end: Callable[[], None],
    ) -> None:
        super().__init__(headers={**NO_BUFFERING, **headers})
        del self.headers["content-length"]
        self._events = events
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        try:
            await send(start)
            await unless_gone(self._send_all(send), receive)
        finally:
            self._on_end()

    async def _send_all(self, send: Send) -> None:
        async for data in self._events:
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def unless_gone(work: Awaitable[_T], receive: Receive) -> _T | None:
    """Return what the work gives; None if its client goes first, which cancels the work.

    The request's body must have been read.
    """
    working = asyncio.ensure_future(work)
    watching = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
