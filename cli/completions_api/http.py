"""The HTTP of the door: one request a connection, on this machine alone.

A handler gets a whole request and returns a whole answer; where the client goes away before, the
handler is cancelled. Knows nothing of completions.
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
    """``headers`` by lower-case name; ``path`` without its query."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What goes back."""

    status: int
    content_type: str
    body: bytes


class HttpFault(Exception):
    """A request is refused. The message is one line: what, and what to do."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Handler: TypeAlias = Callable[[Request], Awaitable[Answer]]
WriteFault: TypeAlias = Callable[[HttpFault], Answer]


class HttpDoor:
    """Serves connections; pass ``accept`` to ``asyncio.start_server``."""

    def __init__(self, handle: Handler, write_fault: WriteFault) -> None:
        self._handle = handle
        self._write_fault = write_fault
        self._open: set[asyncio.Task[Any]] = set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close."""
        http, task = h11.Connection(h11.SERVER), asyncio.current_task()
        assert task is not None, "a stream server runs it as a task of its own"
        self._open.add(task)
        try:
            answer = await self._answer(http, reader, writer)
            if answer is not None:
                await _send(http, writer, answer)
                await _until_read(reader, writer)
        except OSError:
            pass  # the client vanished
        except asyncio.CancelledError:
            pass  # the door closes; asyncio would print a traceback
        finally:
            self._open.discard(task)
            writer.close()

    async def close(self) -> None:
        """End all requests without an answer."""
        while self._open:
            for task in self._open:
                task.cancel()
            await asyncio.wait(self._open)

    async def _answer(
        self, http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Answer | None:
        """Return the answer, None where nobody waits for one any more."""
        try:
            if len(self._open) > MAX_CONNECTIONS:
                raise HttpFault(503, f"{MAX_CONNECTIONS} requests are open: wait for answers")
            request = await _read(http, reader, writer)
            if request is None:
                return None
            _require_own(request)
            return await _unless_gone(self._handle(request), reader)
        except HttpFault as fault:
            return self._write_fault(fault)


async def _read(
    http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Request | None:
    """Read one request; None where the connection ends first. Raises HttpFault."""
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
                        raise HttpFault(413, f"the body is above {MAX_BODY_BYTES} bytes: send less")
                elif isinstance(event, h11.EndOfMessage) and head is not None:
                    return _request(head, bytes(body))
                else:
                    return None
    except h11.RemoteProtocolError as error:
        raise HttpFault(error.error_status_hint, f"this is no HTTP request: {error}") from error
    except TimeoutError as error:
        raise HttpFault(408, f"no whole request came within {READ_TIMEOUT_S:g} s") from error


def _request(head: h11.Request, body: bytes) -> Request:
    return Request(
        method=head.method.decode("latin-1"),
        path=head.target.decode("latin-1").partition("?")[0],
        headers={k.decode("latin-1"): v.decode("latin-1") for k, v in head.headers},
        body=body,
    )


def _require_own(request: Request) -> None:
    """Refuse web pages: those of another name that resolves to us (DNS rebinding), and those that
    say where they come from."""
    host = request.headers.get("host", "").partition(":")[0]
    if host.lower() not in _OWN_NAMES:
        raise HttpFault(403, "this door is for programs of this machine: ask for 127.0.0.1")
    if "origin" in request.headers:
        raise HttpFault(403, "this door is not for web pages: leave the Origin header out")


async def _unless_gone(answering: Awaitable[Answer], reader: asyncio.StreamReader) -> Answer | None:
    """Wait for the answer; cancel it and return None where the client closes before."""
    answer = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(_until_closed(reader))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        return await answer if answer.done() else None
    finally:
        for task in (answer, gone):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _until_closed(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(_READ_BYTES):
            pass


async def _until_read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Wait for the client to close: closing first, with bytes of its own unread, would take the
    answer from it."""
    writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            await _until_closed(reader)


async def _send(http: h11.Connection, writer: asyncio.StreamWriter, answer: Answer) -> None:
    headers = [
        ("Content-Type", answer.content_type),
        ("Content-Length", str(len(answer.body))),
        ("Connection", "close"),
    ]
    _write(http, writer, h11.Response(status_code=answer.status, headers=headers))
    with contextlib.suppress(h11.LocalProtocolError):  # the answer to a HEAD has no body
        _write(http, writer, h11.Data(data=answer.body))
        _write(http, writer, h11.EndOfMessage())
    await writer.drain()


def _write(
    http: h11.Connection,
    writer: asyncio.StreamWriter,
    event: h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage,
) -> None:
    if data := http.send(event):
        writer.write(data)
