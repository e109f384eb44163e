"""JSON-RPC messages of any content at the real protocol: each request is answered once."""

import json
from typing import Any

from harness.lsp_session import Session
from harness.target import Target
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

METHODS = [
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.TEXT_DOCUMENT_INLINE_COMPLETION,
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CODE_ACTION_RESOLVE,
    types.WORKSPACE_EXECUTE_COMMAND,
    types.CANCEL_REQUEST,
    types.INITIALIZE,
    types.SET_TRACE,
    "unknown/method",
]
FIELDS = ["textDocument", "contentChanges", "range", "start", "end", "line", "character", "text"]
FIELDS += ["uri", "version", "languageId", "position", "context", "diagnostics", "command"]
FIELDS += ["arguments", "notebookDocument", "cells", "change", "structure", "array", "id", "method"]

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*FIELDS, "jsonrpc"]) | st.text(), inner, max_size=4)
    ),
    max_leaves=10,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers(1, 3) | st.text(max_size=2) | values,
        "method": st.sampled_from(METHODS) | values,
        "params": values,
        "result": values,
        "error": values,
    },
)


@given(messages | values)
def send(message: Any) -> None:
    """Send one message; the server answers it if it is a request, and then the next one."""
    session = Session.lasting("utf-16")
    session.sent.clear()
    session.send(message)
    session.send({"jsonrpc": "2.0", "id": "next", "method": "unknown/method", "params": None})
    answers = session.answers()
    assert answers[-1] == "next"
    if is_request(message):
        assert [json.dumps(it) for it in answers].count(json.dumps(message["id"])) == 1


def is_request(message: Any) -> bool:
    """Whether JSON-RPC demands an answer to the message."""
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and type(message.get("id")) in (str, int)
        and message["id"] != "next"
        and not {"error", "result"} & message.keys()
    )


def check(data: bytes) -> None:
    """Let Hypothesis make the message of these bytes."""
    send.hypothesis.fuzz_one_input(data)  # type: ignore[attr-defined]


TARGET = Target(
    about="JSON-RPC messages of any content (Hypothesis)",
    check=check,
    seeds=[bytes(range(200)), b"\x01" * 64, bytes(range(255, 0, -2))],
    watched=["intarsia.lsp.protocol", "pygls.protocol"],
    weight=1,
    max_bytes=512,
)
