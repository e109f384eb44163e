"""Stream the answer to one request to llama.cpp's ``/infill``.

Closing the generator closes the connection, which cancels the server's work.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

import h11
import msgspec

from intarsia_research.evaluation.systems.baseline_program import NoAnswer

_READ_BYTES = 64 * 1024
_EVENT = b"data: "


class _Piece(msgspec.Struct, frozen=True):
    """The fields of an event that are used."""

    content: str
    stop: bool = False


async def streamed_infill(host: str, port: int, body: bytes) -> AsyncGenerator[str, None]:
    """Yield the pieces of the text. Raise NoAnswer if the server sends none."""
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except OSError as fault:
        raise NoAnswer(f"llama-server cannot be reached: {fault}") from fault
    try:
        connection = h11.Connection(h11.CLIENT)
        writer.write(_request(connection, host, body))
        pending = b""
        async for data in _bodies(connection, reader):
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                if line.startswith(_EVENT):
                    piece = _piece(line.removeprefix(_EVENT))
                    yield piece.content
                    if piece.stop:
                        return
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _request(connection: h11.Connection, host: str, body: bytes) -> bytes:
    headers = [
        ("Host", host),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    ]
    parts = (
        h11.Request(method="POST", target="/infill", headers=headers),
        h11.Data(data=body),
        h11.EndOfMessage(),
    )
    return b"".join(connection.send(part) or b"" for part in parts)


async def _bodies(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the parts of the response body as they arrive."""
    try:
        while True:
            match connection.next_event():
                case h11.NEED_DATA:
                    connection.receive_data(await reader.read(_READ_BYTES))
                case h11.Response(status_code=status) if status != 200:
                    raise NoAnswer(f"llama-server refused the hole (status {status})")
                case h11.Data(data=data):
                    yield bytes(data)
                case h11.EndOfMessage() | h11.ConnectionClosed():
                    return
    except (h11.RemoteProtocolError, OSError) as fault:
        raise NoAnswer(f"llama-server ended its answer early: {fault}") from fault


def _piece(event: bytes) -> _Piece:
    try:
        return msgspec.json.decode(event, type=_Piece)
    except msgspec.DecodeError as fault:
        raise NoAnswer(f"llama-server's answer cannot be read: {fault}") from fault
