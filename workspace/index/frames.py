"""Messages on a pipe: four bytes of length (big-endian), then one msgpack message.

The same frames as between the language server and the engine, for blocking streams.
"""

import struct
from typing import IO, Any

import msgspec

MAX_FRAME_BYTES = 32 * 1024 * 1024

LENGTH = struct.Struct(">I")
_encoder = msgspec.msgpack.Encoder()


class FrameError(Exception):
    """Bytes that are not a frame, or a message that is too large. One line says why."""


def to_frame(message: Any) -> bytes:
    """Return the bytes of one message. Raises ``FrameError``."""
    try:
        data = _encoder.encode(message)
    except UnicodeEncodeError as error:
        raise FrameError(f"a text cannot be encoded as UTF-8: {error}") from error
    check_length(len(data))
    return LENGTH.pack(len(data)) + data


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Return the next message's bytes, None at the end of the stream. Raises ``FrameError``."""
    header = stream.read(LENGTH.size)
    if not header:
        return None
    if len(header) == LENGTH.size:
        (length,) = LENGTH.unpack(header)
        check_length(length)
        data = stream.read(length)
        if len(data) == length:
            return data
    raise FrameError("the stream ended within a frame")


def check_length(length: int) -> None:
    """Raise ``FrameError`` for a frame above ``MAX_FRAME_BYTES``."""
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame has {length} bytes, {MAX_FRAME_BYTES} are allowed")
