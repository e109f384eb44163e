"""An HTTP server for programs on this machine: one request per connection.

A handler gets a whole request and returns a whole response. If the client disconnects first, the
handler is cancelled. The server knows nothing of completions.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import h11

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_CONNECTIONS = 64
READ_TIMEOUT_S = 10.0
_READ_BYTES = 64 * 1024
_LINGER_S = 1.0
_OWN_NAMES = ("127.0.0.1", "localhost")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """An HTTP request: ``headers`` by lower-case name, ``path`` without its query."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """An HTTP response with its whole body."""

    status: int
    content_type: str
    body: bytes


class HttpError(Exception):
    """A refused request. The message is one line: what, and what to do."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
WriteError: TypeAlias = Callable[[HttpError], Response]


class HttpServer:
    """Serves connections. Pass ``accept`` to ``asyncio.start_server``."""

    def __init__(self, handle: Handler, write_error: WriteError) -> None:
        self._handle = handle
        self._write_error = write_error
        self._open: set[asyncio.Task[Any]] = set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Response one request, and close."""
        http, task = h11.Connection(h11.SERVER), asyncio.current_task()
        assert task is not None, "asyncio runs each connection in its own task"
        self._open.add(task)
        try:
            response = await self._respond(http, reader, writer)
            if response is not None:
                await _send(http, writer, response)
                await _until_read(reader, writer)
        except OSError:
            pass  # the client disconnected
        except asyncio.CancelledError:
            pass  # the server closes; asyncio would print a traceback
        finally:
            self._open.discard(task)
            writer.close()

    async def close(self) -> None:
        """End all open requests without a response."""
        while self._open:
            for task in self._open:
                task.cancel()
            await asyncio.wait(self._open)

    async def _respond(
        self, http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Response | None:
        """Return the response; None if the client has disconnected."""
        try:
            if len(self._open) > MAX_CONNECTIONS:
                raise HttpError(503, f"{MAX_CONNECTIONS} requests are open: wait for their answers")
            request = await _read(http, reader, writer)
            if request is None:
                return None
            _require_own(request)
            return await _unless_gone(self._handle(request), reader)
        except HttpError as error:
            return self._write_error(error)


async def _read(
    http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Request | None:
    """Read one request; return None if the connection ends first. Raise HttpError."""
    head, body = None, bytearray()
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            while True:
                event = http.next_event()
                if event is h11.NEED_DATA:
                    if http.they_are_waiting_for_100_continue:  # curl waits a second for it
                        _write(http, writer, h11.InformationalResponse(status_code=100, headers=[]))
                    http.receive_data(await reader.read(_READ_BYTES))
                elif isinstance(event, h11.Request):
                    head = event
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > MAX_BODY_BYTES:
                        raise HttpError(413, f"the body exceeds {MAX_BODY_BYTES} bytes: send less")
                elif isinstance(event, h11.EndOfMessage) and head is not None:
                    return _request(head, bytes(body))
                else:
                    return None
    except h11.RemoteProtocolError as error:
        raise HttpError(error.error_status_hint, f"not an HTTP request: {error}") from error
    except TimeoutError as error:
        raise HttpError(408, f"no complete request arrived within {READ_TIMEOUT_S:g} s") from error


def _request(head: h11.Request, body: bytes) -> Request:
    return Request(
        method=head.method.decode("latin-1"),
        path=head.target.decode("latin-1").partition("?")[0],
        headers={k.decode("latin-1"): v.decode("latin-1") for k, v in head.headers},
        body=body,
    )


def _require_own(request: Request) -> None:
    """Refuse web pages: a foreign host name that resolves to us (DNS rebinding), or an Origin."""
    host = request.headers.get("host", "").partition(":")[0]
    if host.lower() not in _OWN_NAMES:
        raise HttpError(403, "this API is for programs on this machine: use 127.0.0.1")
    if "origin" in request.headers:
        raise HttpError(403, "this API is not for web pages: omit the Origin header")


async def _unless_gone(
    responding: Awaitable[Response], reader: asyncio.StreamReader
) -> Response | None:
    """Wait for the response; if the client closes first, cancel it and return None."""
    response = asyncio.ensure_future(responding)
    gone = asyncio.ensure_future(_until_closed(reader))
    try:
        await asyncio.wait({response, gone}, return_when=asyncio.FIRST_COMPLETED)
        return await response if response.done() else None
    finally:
        for task in (response, gone):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _until_closed(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(_READ_BYTES):
            pass


async def _until_read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Wait for the client to close: closing first, with unread bytes, would lose the response."""
    writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            await _until_closed(reader)


async def _send(http: h11.Connection, writer: asyncio.StreamWriter, response: Response) -> None:
    headers = [
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        ("Connection", "close"),
    ]
    _write(http, writer, h11.Response(status_code=response.status, headers=headers))
    with contextlib.suppress(h11.LocalProtocolError):  # the response to a HEAD has no body
        _write(http, writer, h11.Data(data=response.body))
        _write(http, writer, h11.EndOfMessage())
    await writer.drain()


def _write(
    http: h11.Connection,
    writer: asyncio.StreamWriter,
    event: h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage,
) -> None:
    if data := http.send(event):
        writer.write(data)
