"""Bytes at the engine's socket, and at a client's: frames of messages, read as they come."""

import asyncio
import atexit
import struct

from harness.byte_reader import ByteReader
from harness.target import Target

from intarsia.engine.ipc.messages import (
    Cancel,
    ClientMessage,
    Fill,
    GetStatus,
    Hello,
    Preload,
    decode_client_message,
    decode_engine_message,
)
from intarsia.engine.ipc.transport import ProtocolError, read_message, to_frame

REAL: tuple[ClientMessage, ...] = (
    Hello(protocol=13, build="b", client="lsp"),
    Fill(id=1, prefix="a = ß", suffix="\n😀", stop=("\n",), watch=True, temperature=0.5),
    Cancel(id=1),
    GetStatus(id=2),
    Preload(id=3),
)


def check(data: bytes) -> None:
    """Read real messages, and after them any bytes, with a length of their own or without."""
    reader, sent = ByteReader(data), list[ClientMessage]()
    for _ in range(reader.byte() % 4):
        sent.append(reader.pick(REAL))
    framed, rest = reader.byte() & 1, reader.rest()
    end = struct.pack(">I", len(rest)) + rest if framed else rest
    stream = b"".join(map(to_frame, sent)) + end
    for decode in (decode_client_message, decode_engine_message):
        _read(stream, decode, sent if decode is decode_client_message else [])


def _read(stream: bytes, decode: object, sent: list[ClientMessage]) -> None:
    reader, got = _stream_reader(stream), list[object]()
    try:
        while (message := _finish(reader, decode)) is not None:
            got.append(message)
    except ProtocolError as error:
        assert "\n" not in str(error)
    assert got[: len(sent)] == sent


def _stream_reader(stream: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(loop=_LOOP)
    reader.feed_data(stream)
    reader.feed_eof()
    return reader


def _finish(reader: asyncio.StreamReader, decode: object) -> object:
    """Read one message: all bytes are there, so that nothing waits."""
    try:
        read_message(reader, decode).send(None)  # type: ignore[arg-type]
    except StopIteration as end:
        return end.value
    raise AssertionError("reading has waited")


_LOOP = asyncio.new_event_loop()
atexit.register(_LOOP.close)

TARGET = Target(
    about="frames of the engine's socket",
    check=check,
    seeds=[
        b"\x03\x00\x01\x02\x01" + to_frame(REAL[1])[4:],
        b"\x00\x01" + to_frame(REAL[0])[4:],
        b"\x00\x00" + to_frame(REAL[2]) + to_frame(REAL[4]),
        b"\x01\x03\x00\xff\xff\xff\xff",
    ],
    watched=["intarsia.engine.ipc.transport"],
    weight=300,
    max_bytes=256,
)
