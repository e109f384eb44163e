"""Client and engine check that the other speaks the same protocol, and tell their builds."""

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator

import msgspec
import pytest
from in_process_engine import always, in_process_engine
from raw_client import greeted_client, raw_client
from rule_engine import RuleFiller
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, EngineUnavailable, NoEngine
from intarsia.engine.ipc.connection import ProtocolError, read_message, to_frame
from intarsia.engine.ipc.handshake import build_id, connect
from intarsia.engine.ipc.messages import (
    PROTOCOL_VERSION,
    Cancel,
    Failed,
    Fill,
    Hello,
    Refused,
    Welcome,
    decode_client_message,
)
from intarsia.engine.service.endpoint import hold_address

SOME_FILLER = always(RuleFiller(lambda _: "text"))


@contextlib.asynccontextmanager
async def stranger(address: Address, answer: bytes | None) -> AsyncIterator[None]:
    """A program at the engine's socket that is not an engine. None: it never answers."""
    gate = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer is None:
            await gate.wait()
        else:
            await reader.read(4)
            writer.write(answer)
        writer.close()

    async with await asyncio.start_unix_server(serve, address.socket_path):
        yield
        gate.set()


async def test_a_client_learns_the_process_and_build_of_its_engine(any_address: Address):
    async with (
        in_process_engine(any_address, SOME_FILLER),
        EngineClient(name="test", start=False, address=any_address) as client,
    ):
        assert client.welcome is None
        status = await client.status()
        assert client.welcome.build == status.build == build_id()
        assert client.welcome.pid == status.pid


async def test_an_engine_of_another_build_and_the_same_protocol_serves(address: Address):
    async with in_process_engine(address, SOME_FILLER), raw_client(address) as client:
        client.send(Hello(protocol=PROTOCOL_VERSION, build="another", client="raw"))
        answer = await client.receive()
        assert isinstance(answer, Welcome)
        assert answer.build == build_id()


async def test_the_engine_refuses_another_protocol_and_names_both(address: Address):
    async with in_process_engine(address, SOME_FILLER), raw_client(address) as client:
        answer = await client.greet(protocol=99)
        assert isinstance(answer, Refused)
        assert answer.protocol == PROTOCOL_VERSION
        assert f"protocol {PROTOCOL_VERSION}, the client 99: run `intarsia stop`" in answer.message
        assert await client.receive() is None


@pytest.mark.parametrize(
    "answer",
    [
        Refused(protocol=99, build="9.0+abc", message="no"),
        Welcome(protocol=99, build="9.0+abc", pid=1),
    ],
)
async def test_the_client_names_both_protocols_and_the_remedy(address, answer):
    async with stranger(address, to_frame(answer)):
        client = EngineClient(name="test", start=False, address=address)
        with pytest.raises(EngineUnavailable) as caught:
            await client.status()
        await client.close()
    text = str(caught.value)
    assert "9.0+abc) speaks protocol 99" in text
    assert f"protocol {PROTOCOL_VERSION}: run `intarsia stop`" in text


async def test_a_wrong_token_is_refused_on_tcp(any_address: Address):
    async with in_process_engine(any_address, SOME_FILLER), raw_client(any_address) as client:
        client.token = "guessed"
        answer = await client.greet()
        assert isinstance(answer, Refused)
        assert "token" in answer.message


async def test_without_hello_or_with_a_second_one_nothing_is_answered(address: Address):
    async with in_process_engine(address, SOME_FILLER):
        async with raw_client(address) as client:
            client.send(Fill(id=1, prefix="", suffix=""))
            answer = await client.receive()
            assert isinstance(answer, Failed)
            assert (answer.id, answer.code) == (None, "bad_request")
            assert await client.receive() is None
        async with greeted_client(address) as client:
            assert isinstance(await client.greet(), Failed)
            assert await client.receive() is None


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", r"not an intarsia .*INTARSIA_RUNTIME_DIR"),
        (b"\0\0\0\1\xc1", "not an intarsia"),
        (to_frame(Failed(id=1, code="model", message="x")), "not an intarsia"),
        (None, "does not answer"),
    ],
)
async def test_a_program_that_is_not_an_engine_is_named_as_such(address, answer, match):
    async with stranger(address, answer):
        with pytest.raises(EngineUnavailable, match=match):
            await connect(address, name="test", timeout_s=20 if answer else 0.1)


async def test_without_an_engine_a_client_that_must_not_start_one_says_so(any_address: Address):
    async with EngineClient(name="test", start=False, address=any_address) as client:
        with pytest.raises(NoEngine, match="no engine is running"):
            await client.status()
        with pytest.raises(NoEngine):
            await client.stop()


async def test_a_damaged_port_file_means_that_no_engine_runs():
    with temporary_address("tcp") as address, hold_address(address):
        address.port_path.write_bytes(b"{")
        with pytest.raises(NoEngine, match="damaged"):
            await connect(address, name="test")


def stream_of(*chunks: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    for chunk in chunks:
        reader.feed_data(chunk)
    reader.feed_eof()
    return reader


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
