"""What some clients send otherwise than LSP has it: read where it is clear, else told by name."""

import contextlib
import json
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.lsp.method_table import build_server
from intarsia.lsp.session import Session

URI = "file:///a.py"
START = {"line": 0, "character": 0}
INSERTION = {"range": {"start": START, "end": START}, "text": "x"}


class Client:
    """Sends messages as they are to a server in this process, and keeps its answers."""

    def __init__(self) -> None:
        self.server = build_server()
        self.sent: list[dict[str, Any]] = []
        self.server.protocol.set_writer(self, include_headers=False)
        self.send(
            "initialize", {"capabilities": {}, "initializationOptions": {"enabled": False}}, 0
        )
        item = {"uri": URI, "languageId": "python", "version": 5, "text": "y = 1"}
        self.send("textDocument/didOpen", {"textDocument": item})

    @property
    def session(self) -> Session:
        return self.server.session

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    def close(self) -> None:
        pass

    def send(self, method: str, params: object, id: int | None = None) -> Any:
        """Return the message as the server has read it, None if it cannot."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if id is None else {**message, "id": id})
        protocol = self.server.protocol
        with contextlib.suppress(JsonRpcException, KeyError, AttributeError):
            read = json.loads(body, object_hook=protocol.structure_message)
            if method != types.TEXT_DOCUMENT_INLINE_COMPLETION:
                protocol.handle_message(read)
            return read
        return None

    def change(self, *changes: object, **document: object) -> str | None:
        """Change the document; return its text, None where it is not known any more."""
        identifier = {"uri": URI, **document}
        self.send("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
        known = self.session.documents.current(URI)
        return None if known is None else known.text

    def trigger(self, kind: object) -> int | None:
        """Request a suggestion; return the kind of trigger that is read."""
        document, context = {"uri": URI}, {"triggerKind": kind}
        params = {"textDocument": document, "position": START, "context": context}
        read = self.send(types.TEXT_DOCUMENT_INLINE_COMPLETION, params, 7)
        return None if read is None else read.params.context.trigger_kind.value


@pytest.mark.parametrize("version", [{}, {"version": None}, {"version": 2}, {"version": "7"}])
def test_changes_count_in_the_order_in_which_they_come(version: dict[str, object]) -> None:
    assert Client().change(INSERTION, INSERTION, **version) == "xxy = 1"


def test_a_range_that_is_null_is_the_whole_text() -> None:
    assert Client().change({"range": None, "text": "z = 2"}, INSERTION, version=6) == "xz = 2"


@pytest.mark.parametrize(
    "bad",
    [
        {"range": {"start": {"line": "a", "character": 0}, "end": START}, "text": "x"},
        {"range": {"start": {"line": -1, "character": 0}, "end": START}, "text": "x"},
        {"range": {"start": START}, "text": "x"},
        {"range": 3, "text": "x"},
        {**INSERTION, "text": None},
        {**INSERTION, "text": 3},
        {"range": INSERTION["range"]},
        "x",
        None,
    ],
)
def test_after_a_change_that_cannot_be_read_nothing_is_known_until_a_whole_text(bad):
    client = Client()
    assert client.change(INSERTION, bad, version=6) is None
    assert "could not be read" in client.session.documents.why_none(URI)
    assert client.change(INSERTION, version=7) is None
    assert client.session.documents.opened() == ()
    assert client.change({"text": "z"}, INSERTION, version=8) == "xz"


def test_a_client_that_counts_triggers_from_0_is_understood() -> None:
    counts_from_1, counts_from_0 = Client(), Client()
    assert [counts_from_1.trigger(kind) for kind in (1, 2, 1)] == [1, 2, 1]
    assert [counts_from_0.trigger(kind) for kind in (0, 1, 0, 1)] == [1, 2, 1, 2]


def test_the_answer_to_a_request_that_cannot_be_read_names_the_field() -> None:
    client = Client()
    assert client.trigger(9) is None
    error = client.sent[-1]["error"]
    assert error["code"] == -32602
    assert "triggerKind" in error["message"] or "trigger_kind" in error["message"]
