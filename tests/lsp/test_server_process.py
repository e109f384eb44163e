"""The server's process: no torch in it, its faults, its log, and bytes that are no message."""

import json
import logging
import subprocess
import sys
from typing import Any

import psutil
import pytest
from editor_clients import ask_inline, editing, inline_items, open_document, vscode
from faults.wire import frame
from open_documents import seen
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address
from intarsia.lsp.requests.suggest import Suggester, SuggestOptions
from intarsia.lsp.server import ClientLogHandler, IntarsiaServer

HEAVY = ("libtorch", "libc10", "torch/", "transformers", "numpy")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_server_that_has_served_has_mapped_no_torch(runtime: Address) -> None:
    command = rule_server_command(text="x")
    async with editing(vscode(), runtime, server=command, options={"debounceMs": 0}) as client:
        for name, language in (("a.py", "python"), ("a.ts", "typescript"), ("a.c", "c")):
            uri = open_document(client, name, "y = ", language)
            assert await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True))
        mapped = [file.path for file in psutil.Process(client._server.pid).memory_maps()]
        assert any("tree_sitter" in path for path in mapped)
        assert [path for path in mapped if any(name in path for name in HEAVY)] == []


async def test_a_fault_of_our_own_is_a_reason_and_no_crash(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("intarsia.lsp.suggestions.plan_at_cursor", fail)
    session = IntarsiaServer().session
    snapshot = seen("y = |")
    monkeypatch.setattr(session.documents, "current", lambda uri: snapshot.document)
    found = await session.feature(Suggester).suggest(
        snapshot, SuggestOptions(num_candidates=1, is_debounced=False, deadline_ms=1)
    )
    assert found.ghosts == ()
    assert found.reason is not None
    assert "RuntimeError('a fault')" in found.reason


class RecordingServer:
    def __init__(self) -> None:
        self.messages: list[str] = []

    def window_log_message(self, params: Any) -> None:
        self.messages.append(params.message)


def test_escapes_in_a_log_line_are_shown() -> None:
    server = RecordingServer()
    handler = ClientLogHandler(server)
    handler.emit(
        logging.makeLogRecord({"msg": "no file a\x1b[2J\u200b.py\nß", "levelno": logging.INFO})
    )
    assert server.messages == ["no file a\\x1b[2J\\u200b.py\nß"]


COMMAND = (sys.executable, "-P", "-m", "intarsia.lsp")
PATIENCE_S = 120.0


WHO = {"capabilities": {}, "processId": None, "rootUri": None}
INITIALIZE = frame({"id": 1, "method": "initialize", "params": WHO})
SHUTDOWN = frame({"id": 2, "method": "shutdown"})
EXIT = frame({"method": "exit"})


def served(data: bytes) -> tuple[int, list[dict[str, object]]]:
    """Return the exit code and the messages of a server that reads these bytes."""
    done = subprocess.run(COMMAND, input=data, capture_output=True, timeout=PATIENCE_S, check=False)
    assert b"Traceback" not in done.stderr
    messages, rest = [], done.stdout
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        messages.append(json.loads(rest[:length]))
        rest = rest[length:]
    return done.returncode, messages


def logged(messages: list[dict[str, object]]) -> str:
    return json.dumps([it["params"] for it in messages if it.get("method") == "window/logMessage"])


@pytest.mark.parametrize("length", [64 * 1024 * 1024 + 1, 10**900])
def test_a_message_that_is_too_long_ends_the_connection_with_a_reason(length: int) -> None:
    code, messages = served(INITIALIZE + b"Content-Length: %d\r\n\r\n{}" % length)
    assert code == 1  # as where the client is gone without a shutdown
    assert [it["id"] for it in messages if "result" in it] == [1]
    assert "is too long" in logged(messages)


NO_MESSAGES = {
    "blank lines": b"\r\n\r\n",
    "a negative length": b"Content-Length: -5\r\n\r\n",
    "no body": b"Content-Length: 0\r\n\r\n",
    "no number": b"Content-Length: x\r\n\r\n",
    "9,000 digits": b"Content-Length: " + b"9" * 9_000 + b"\r\n\r\n",
    "a header of 3 MB": b"x" * 3_000_000 + b"\r\n\r\n",
    "no JSON": b"Content-Length: 2\r\n\r\n{]",
    "no UTF-8": b"Content-Length: 4\r\n\r\n\xff\xfe[]",
    "deep JSON": b"Content-Length: 9000\r\n\r\n" + b"[" * 9_000,
    "an unknown method": frame({"id": 9, "method": "x\x1b]0;title\x07"}),
}


def test_the_server_goes_on_after_what_is_no_message() -> None:
    code, messages = served(INITIALIZE + b"".join(NO_MESSAGES.values()) + SHUTDOWN + EXIT)
    assert code == 0
    assert [it["id"] for it in messages if "result" in it] == [1, 2]
    assert "\\u001b" not in logged(messages)
