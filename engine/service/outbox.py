"""The messages that wait to be sent to one client; a slow client loses drafts, never answers."""

import asyncio
import contextlib
from collections import deque

from intarsia.engine.ipc.messages import EngineMessage, LoadProgress, Step
from intarsia.engine.ipc.transport import to_frame

MAX_DRAFTS = 8
"""Of more waiting drafts (steps and progress) than this, the oldest is dropped."""

MAX_MESSAGES = 4096
"""A client with more unread messages than this has stopped reading."""


class Outbox:
    """A queue: ``put`` never waits, and one task writes as fast as the client reads."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._messages: deque[EngineMessage] = deque()
        self._has_news = asyncio.Event()
        self._is_closing = False
        self._writing = asyncio.create_task(self._write())

    def put(self, message: EngineMessage) -> None:
        if self._writing.done():
            return  # the client has gone
        if isinstance(message, Step | LoadProgress):
            self._drop_oldest_draft()
        self._messages.append(message)
        self._has_news.set()
        if len(self._messages) > MAX_MESSAGES:
            self._give_up()

    async def close(self, patience_s: float) -> None:
        """Send the waiting messages for up to ``patience_s``, then close the connection."""
        self._is_closing = True
        self._has_news.set()
        await asyncio.wait([self._writing], timeout=patience_s)
        if not self._writing.done():
            self._give_up()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def _give_up(self) -> None:
        self._writing.cancel()
        self._writer.transport.abort()  # close() would wait for the client to read the buffer

    def _drop_oldest_draft(self) -> None:
        drafts = [message for message in self._messages if isinstance(message, Step | LoadProgress)]
        if len(drafts) >= MAX_DRAFTS:
            self._messages.remove(drafts[0])

    async def _write(self) -> None:
        try:
            while self._messages or not self._is_closing:
                await self._has_news.wait()
                self._has_news.clear()
                await self._send_waiting()
        except OSError:
            pass  # the client has gone; the reader of its requests notices too
        finally:
            self._writer.close()

    async def _send_waiting(self) -> None:
        while self._messages:
            self._writer.write(to_frame(self._messages.popleft()))
            await self._writer.drain()
