"""Good frames are read whole and in order, and any bytes after them raise nothing unforeseen."""

import asyncio
import json
import struct
from collections.abc import Coroutine, Sequence
from threading import Event
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from lsp_session import UnthreadedInput
from pygls.io_ import run_async

from intarsia.engine.ipc.connection import ProtocolError, read_message, to_frame
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

BODIES = [
    {"jsonrpc": "2.0", "method": "exit"},
    {"jsonrpc": "2.0", "id": 1, "method": "shutdown", "params": None},
    {"jsonrpc": "2.0", "id": "ß😀", "result": [1, 2.5, {"a": "\r\n\r\nContent-Length: 2\r\n"}]},
    ["no", "message"],
    "text",
]
OTHER_HEADERS = (
    b"",
    b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n",
    b"X-Other: 1\r\n",
)
MESSAGES: tuple[ClientMessage, ...] = (
    Hello(protocol=13, build="b", client="lsp"),
    Fill(id=1, prefix="a = ß", suffix="\n😀", stop=("\n",), watch=True, temperature=0.5),
    Cancel(id=1),
    GetStatus(id=2),
    Preload(id=3),
)
LENGTH_HEADERS = (b"Content-Length: %d\r\n", b"content-length:%d\n", b"CONTENT-LENGTH:\t %d \r\n")
Frame = tuple[object, bool, bytes, bytes, bool, bytes]
frames = st.tuples(
    st.sampled_from(BODIES),
    st.booleans(),
    st.sampled_from(LENGTH_HEADERS),
    st.sampled_from(OTHER_HEADERS),
    st.booleans(),
    st.sampled_from((b"\r\n", b"\n")),
)


class Recorder:
    """Takes the messages that pygls reads over our bounded input."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def structure_message(self, data: dict[str, Any]) -> Any:
        return data

    def handle_message(self, message: Any) -> None:
        self.messages.append(message)


def finished(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns that never waits, without an event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise AssertionError("reading has waited")


def messages_in(data: bytes) -> list[Any]:
    recorder = Recorder()
    finished(run_async(Event(), UnthreadedInput(data), recorder))
    return recorder.messages


@given(st.lists(frames, max_size=3), st.binary(max_size=192))
@example([], b"Content-Length: -1\r\n\r\nContent-Length: 4\r\n\r\n\xff\xfe[]\n\r\n")
@example([], b"Content-Length: 99999999999\r\n\r\n")
@example([], b'Content-Length: 9\r\nContent-Type: x\r\n\r\n{"a":[1]}Content-Length: 0\r\n\r\n')
def test_good_frames_before_any_bytes_are_read(sent: list[Frame], rest: bytes) -> None:
    stream = b""
    for body, is_ascii, length, other, is_other_first, blank in sent:
        content = json.dumps(body, ensure_ascii=is_ascii).encode()
        lines = [length % len(content), other]
        stream += b"".join(lines[:: -1 if is_other_first else 1]) + blank + content
    bodies = [body for body, *_ in sent]
    assert messages_in(stream) == bodies
    assert messages_in(stream + rest)[: len(bodies)] == bodies


@given(st.lists(st.sampled_from(MESSAGES), max_size=3), st.booleans(), st.binary(max_size=256))
@example([MESSAGES[0]], False, b"\xff\xff\xff\xff")
@example([], True, to_frame(MESSAGES[1])[4:])
def test_good_messages_before_any_bytes_are_read(sent, is_framed, rest):
    end = struct.pack(">I", len(rest)) + rest if is_framed else rest
    stream = b"".join(map(to_frame, sent)) + end
    assert engine_messages(stream, decode_client_message)[: len(sent)] == sent
    engine_messages(stream, decode_engine_message)


def engine_messages(stream: bytes, decode: Any) -> Sequence[object]:
    """Return the messages before what is none; its error cannot forge lines of a log."""
    loop = asyncio.new_event_loop()
    reader, got = asyncio.StreamReader(loop=loop), list[object]()
    loop.close()
    reader.feed_data(stream)
    reader.feed_eof()
    try:
        while (message := finished(read_message(reader, decode))) is not None:
            got.append(message)
    except ProtocolError as error:
        assert "\n" not in str(error)
    return got
