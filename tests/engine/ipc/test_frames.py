"""Messages arrive as they were sent; any other bytes are a ProtocolError."""

import asyncio
import struct

import msgspec
import pytest

from intarsia.engine.ipc.messages import (
    MAX_FRAME_BYTES,
    Cancel,
    Fill,
    Hello,
    decode_client_message,
)
from intarsia.engine.ipc.transport import FrameTooLarge, ProtocolError, read_message, to_frame


def stream_of(*chunks: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    for chunk in chunks:
        reader.feed_data(chunk)
    reader.feed_eof()
    return reader


async def test_messages_arrive_as_they_were_sent_and_then_the_stream_ends():
    sent = [Fill(id=1, prefix="é𝄞\r\n", suffix="\x00"), Cancel(id=1)]
    reader = stream_of(*(to_frame(message) for message in sent))
    assert [await read_message(reader, decode_client_message) for _ in sent] == sent
    assert await read_message(reader, decode_client_message) is None


async def test_a_frame_may_arrive_byte_by_byte():
    frame = to_frame(Cancel(id=7))
    reader = stream_of(*(bytes([byte]) for byte in frame))
    assert await read_message(reader, decode_client_message) == Cancel(id=7)


async def test_an_oversized_frame_is_refused_before_its_body_is_read():
    reader = asyncio.StreamReader()  # never ends: reading the body would wait for ever
    reader.feed_data(struct.pack(">I", MAX_FRAME_BYTES + 1))
    with pytest.raises(FrameTooLarge, match="16777217 bytes"):
        await read_message(reader, decode_client_message)


def test_an_oversized_message_is_not_sent():
    with pytest.raises(FrameTooLarge):
        to_frame(Fill(id=1, prefix="x" * MAX_FRAME_BYTES, suffix=""))


def test_half_a_character_is_not_sent():
    with pytest.raises(ProtocolError, match="cannot be encoded"):
        to_frame(Fill(id=1, prefix="\ud800", suffix=""))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        b"GET / HTTP/1.1",
        b"\x80",  # a map without a type
        b"\x81\xa4type\xa6filled",  # an engine's message
        b"\x82\xa4type\xa6cancel\xa2id\xa1x",  # id is a text
        b"\x81\xa4type\xa6cancel",  # no id
        b"\x83\xa4type\xa6cancel\xa2id\x01\xa1x\x01",  # an unknown field
        b"\x82\xa4type\xa5hello\xa1x" + b"\x91" * 100_000,  # nested beyond any stack
        b"\x82\xa4type\xa6cancel\xa2id\x01 and more",
        b"\x82\xa4type\xa5hello\xa6client\xa1\xff",  # not UTF-8
    ],
)
async def test_a_malformed_message_is_a_protocol_error(body: bytes):
    with pytest.raises(ProtocolError):
        await read_message(stream_of(struct.pack(">I", len(body)), body), decode_client_message)


@pytest.mark.parametrize("length", [1, 3, 4, 10])
async def test_a_stream_that_ends_within_a_frame_is_a_protocol_error(length: int):
    with pytest.raises(ProtocolError, match="ended within"):
        await read_message(stream_of(to_frame(Cancel(id=1))[:length]), decode_client_message)


def test_a_hello_of_a_later_protocol_with_new_fields_can_still_be_read():
    later = b"\x85\xa4type\xa5hello\xa8protocol\x63\xa5build\xa1b\xa6client\xa1c\xa3new\x01"
    assert decode_client_message(later) == Hello(protocol=99, build="b", client="c")


async def test_the_reason_is_one_short_line_whatever_the_peer_calls_its_fields():
    forged = "x\n2026-01-01 ERROR engine: " + "y" * 9_000
    body = msgspec.msgpack.encode({"type": "cancel", "id": 1, forged: 2})
    reader = stream_of(struct.pack(">I", len(body)) + body)
    with pytest.raises(ProtocolError, match="malformed message") as failure:
        await read_message(reader, decode_client_message)
    assert "\n" not in str(failure.value)
    assert len(str(failure.value)) < 400
