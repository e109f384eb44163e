"""What a client asks for beyond LSP is read once; nothing of it reaches one that did not ask."""

import json

import pytest
from editor_clients import (
    ask_inline,
    change_document,
    connected,
    inline_items,
    open_document,
    vscode,
)
from engine_watch import engine_once
from extended_client import asking_for, record
from rule_server import rule_server

from intarsia.engine.ipc.address import Address
from intarsia.lsp.protocol_extensions import (
    Extensions,
    experimental_capabilities,
    requested_extensions,
)


def test_what_is_asked_for_is_read_and_answered() -> None:
    asked = requested_extensions(
        {"intarsia": {"drafts": True, "confidence": False, "more": 1}, "other": 2}
    )
    assert asked == Extensions(drafts=True)
    answer = {
        "intarsia": {"drafts": True, "status": False, "confidence": False, "nextEdits": False}
    }
    assert experimental_capabilities(asked) == answer


@pytest.mark.parametrize(
    "experimental",
    [
        None,
        3,
        "intarsia",
        [],
        {},
        {"intarsia": None},
        {"intarsia": True},
        {"intarsia": ["drafts"]},
        {"intarsia": {}},
        {"intarsia": {"drafts": 1}},
        {"intarsia": {"drafts": True, "status": "yes"}},
    ],
)
def test_what_is_malformed_or_empty_asks_for_nothing(experimental: object) -> None:
    assert requested_extensions(experimental) == Extensions()
    assert experimental_capabilities(Extensions()) is None


async def test_a_server_says_which_of_it_the_client_gets(runtime: Address) -> None:
    async with connected(runtime) as client:
        who = asking_for(vscode(), drafts=True, confidence=True)
        who.initialization_options = {"enabled": False}
        result = await client.initialize_session(who)
        told = {"drafts": True, "status": False, "confidence": True, "nextEdits": False}
        assert result.capabilities.experimental == {"intarsia": told}
        await client.shutdown_session()


@pytest.mark.parametrize("experimental", [None, 3, {"intarsia": {"drafts": "yes"}}])
async def test_a_client_that_did_not_ask_is_sent_nothing_of_it(
    runtime: Address, experimental: object
) -> None:
    server = rule_server(text="a + b", rules=[("no =", "")], step_seconds=0.06, load_seconds=0.2)
    who = vscode()
    who.capabilities.experimental = experimental
    async with connected(runtime, server) as client:
        messages = record(client)
        await client.initialize_session(who)
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        assert await inline_items(client, ask_inline(uri, 0, 4))  # known
        assert await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True))
        change_document(client, uri, "no = ", 2)
        assert not await inline_items(client, ask_inline(uri, 0, 5))
        await engine_once(runtime, lambda status: status.state == "ready")
        await client.shutdown_session()
    methods = {message["method"] for message in messages if "method" in message}
    assert "$/progress" in methods  # it was told in LSP's own words
    assert not [method for method in methods if method.startswith("intarsia")]
    results = [json.dumps(message["result"]) for message in messages if "result" in message]
    assert any("insertText" in result for result in results)
    assert not [result for result in results if '"intarsia":' in result]
