"""A relay on this machine before a server: it tells how long that server took for its answers.

What an engine's fill takes beyond this is the share of our side. The server need not tell its own
times, and what HTTP costs it counts as its own.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

_RECEIVE_BYTES = 64 * 1024

_Connection: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ServerTime:
    """The seconds between requests that have reached the server and the last bytes of its answers.

    Opening the connection to the server is not in it, nor what follows its last byte.
    """

    def __init__(self) -> None:
        self.total_s = 0.0
        self._asked_at: float | None = None
        self._counted_to = 0.0

    def note_request(self) -> None:
        """A part of a request has been sent to the server."""
        self._asked_at = time.perf_counter()
        self._counted_to = self._asked_at

    def note_answer(self) -> None:
        """A part of an answer has come from the server."""
        if self._asked_at is not None:
            now = time.perf_counter()
            self.total_s += now - self._counted_to
            self._counted_to = now


@asynccontextmanager
async def timed_relay(host: str, port: int) -> AsyncIterator[tuple[int, ServerTime]]:
    """Yield a port of 127.0.0.1 that leads to the server, and the time of all its answers.

    One request at a time is timed. Raises OSError if there is no server.
    """
    server_time = ServerTime()
    running = set[asyncio.Task[None]]()
    connections = _Connections(host, port)
    await connections.prepare()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        task.add_done_callback(running.discard)
        with contextlib.suppress(OSError):
            await _relay_one((reader, writer), await connections.take(), server_time)
            await connections.prepare()

    listener = await asyncio.start_server(relay, "127.0.0.1", 0)
    try:
        yield listener.sockets[0].getsockname()[1], server_time
    finally:
        listener.close()
        for task in tuple(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        connections.close()


class _Connections:
    """Connections to the server. One is opened ahead: without a relay there would be none."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._spare: _Connection | None = None

    async def prepare(self) -> None:
        """Open the next connection. Raises OSError."""
        if self._spare is None:
            self._spare = await asyncio.open_connection(*self._server)

    async def take(self) -> _Connection:
        """Return a connection that nothing was sent on. Raises OSError."""
        spare, self._spare = self._spare, None
        if spare is not None and not spare[0].at_eof():
            return spare
        if spare is not None:
            spare[1].close()  # the server did not wait
        return await asyncio.open_connection(*self._server)

    def close(self) -> None:
        if self._spare is not None:
            self._spare[1].close()


async def _relay_one(client: _Connection, server: _Connection, server_time: ServerTime) -> None:
    """Pass bytes on in both directions. A side that ends the connection ends it for the other."""
    (reader, writer), (from_server, to_server) = client, server

    async def pass_requests() -> None:
        while data := await reader.read(_RECEIVE_BYTES):
            to_server.write(data)
            await to_server.drain()
            server_time.note_request()

    async def pass_answers() -> None:
        while data := await from_server.read(_RECEIVE_BYTES):
            server_time.note_answer()
            writer.write(data)
            await writer.drain()

    directions = {asyncio.ensure_future(pass_requests()), asyncio.ensure_future(pass_answers())}
    try:
        await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for direction in directions:
            direction.cancel()
        await asyncio.gather(*directions, return_exceptions=True)
        for one in (writer, to_server):
            one.close()
