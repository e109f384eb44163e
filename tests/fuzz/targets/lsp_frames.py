"""Bytes at the server's standard input: pygls' reader over ours, and the messages in them.

What comes in good frames is handed on whole and in order; nothing else raises.
"""

import asyncio
import json
from collections.abc import Coroutine
from threading import Event
from typing import Any

from harness.byte_reader import ByteReader
from harness.lsp_session import UnthreadedInput
from harness.target import Target
from pygls.io_ import run_async

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


class _Recorder:
    """Takes the messages that are read."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def structure_message(self, data: dict[str, Any]) -> Any:
        return data

    def handle_message(self, message: Any) -> None:
        self.messages.append(message)


def messages_in(data: bytes) -> list[Any]:
    """Return the messages that the server reads from these bytes."""
    recorder = _Recorder()
    _finish(run_async(Event(), UnthreadedInput(data), recorder))  # type: ignore[arg-type]
    return recorder.messages


def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Run what never waits to its end, without an event loop."""
    try:
        work.send(None)
    except StopIteration:
        return
    asyncio.run(work)
    raise AssertionError("reading has waited")


def check(data: bytes) -> None:
    """Read good frames, and after them any bytes."""
    reader, sent, stream = ByteReader(data), list[Any](), b""
    for _ in range(reader.byte() % 4):
        body = reader.pick(BODIES)
        content = json.dumps(body, ensure_ascii=bool(reader.byte() & 1)).encode()
        lines = [b"Content-Length: %d\r\n" % len(content), reader.pick(OTHER_HEADERS)]
        if reader.byte() & 1:
            lines.reverse()
        stream += b"".join(lines) + b"\r\n" + content
        sent.append(body)
    assert messages_in(stream) == sent
    assert messages_in(stream + reader.rest())[: len(sent)] == sent


TARGET = Target(
    about="frames at standard input",
    check=check,
    seeds=[
        b"\x02\x01\x00\x01\x01\x02\x01\x00\x00Content-Length: 2\r\n\r\n{}",
        b'\x00Content-Length: 9\r\nContent-Type: x\r\n\r\n{"a":[1]}Content-Length: 0\r\n\r\n',
        b"\x01\x03\x00\x00\x00Content-Length: 99999999999\r\n\r\n",
        b"\x00Content-Length: -1\r\n\r\nContent-Length: 4\r\n\r\n\xff\xfe[]\n\r\n",
    ],
    watched=["pygls.io_", "intarsia.lsp.bounded_input"],
    weight=170,
    max_bytes=192,
)
