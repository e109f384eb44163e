"""Write messages to a stream as frames, and read them back.

A frame is four bytes of length (big-endian), then one msgpack message. Knows no sockets.
"""

import asyncio
import struct
from collections.abc import Callable
from typing import TypeVar

import msgspec

from intarsia.engine.ipc.messages import MAX_FRAME_BYTES, ClientMessage, EngineMessage, encode

_MAX_REASON_CHARS = 300

_LENGTH = struct.Struct(">I")
_M = TypeVar("_M")


class ProtocolError(Exception):
    """Bytes that are not a message, or a message that cannot be sent. One line says why."""


def to_frame(message: ClientMessage | EngineMessage) -> bytes:
    """Return the bytes to send for one message. Raises ``ProtocolError``."""
    try:
        data = encode(message)
    except UnicodeEncodeError as error:
        raise ProtocolError(f"a text cannot be encoded as UTF-8: {error}") from error
    _check_length(len(data))
    return _LENGTH.pack(len(data)) + data


async def read_message(reader: asyncio.StreamReader, decode: Callable[[bytes], _M]) -> _M | None:
    """Return the next message, None at the stream's end. Raises ``ProtocolError``."""
    header = await reader.read(_LENGTH.size)
    if not header:
        return None
    header += await _read_rest(reader, _LENGTH.size - len(header))
    (length,) = _LENGTH.unpack(header)
    _check_length(length)
    data = await _read_rest(reader, length)
    try:
        return decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())  # it may quote the peer's own names of fields
        raise ProtocolError(f"malformed message: {reason[:_MAX_REASON_CHARS]}") from error


async def _read_rest(reader: asyncio.StreamReader, length: int) -> bytes:
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise ProtocolError("the stream ended within a frame") from error


def _check_length(length: int) -> None:
    if length > MAX_FRAME_BYTES:
        raise ProtocolError(
            f"a frame has {length} bytes, {MAX_FRAME_BYTES} are allowed: send less text"
        )
