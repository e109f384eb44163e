"""Requests that end early: cancelled, outrun, or stale. Each is answered."""

import asyncio

import pytest
from editor_clients import (
    ask_inline,
    change_document,
    editing,
    inline_items,
    log_of,
    open_document,
    vscode,
)
from engine_watch import engine_once
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

REQUEST_CANCELLED = -32800
HANGING = {"text": "x", "step_seconds": 0.02, "num_steps": 10_000}
PATIENT = {"debounceMs": 0, "deadlineMs": 60_000, "invokedDeadlineMs": 60_000}


def send_inline(
    client: LanguageClient, params: types.InlineCompletionParams, id: str
) -> "asyncio.Future[object]":
    """Send the request under this id and return the answer to come."""
    method = types.TEXT_DOCUMENT_INLINE_COMPLETION
    return asyncio.ensure_future(client.protocol.send_request_async(method, params, msg_id=id))


async def answered(answer: "asyncio.Future[object]") -> object:
    return await asyncio.wait_for(answer, 20)


async def test_a_cancel_reaches_the_engine_and_is_answered(runtime: Address) -> None:
    command = rule_server_command(**HANGING)
    async with editing(vscode(), runtime, server=command, options=PATIENT) as client:
        uri = open_document(client, "a.py", "y = ")
        answer = send_inline(client, ask_inline(uri, 0, 4), "first")
        await engine_once(runtime, lambda status: status.state == "filling")
        client.cancel_request(types.CancelParams("first"))
        with pytest.raises(JsonRpcException) as raised:
            await answered(answer)
        assert raised.value.code == REQUEST_CANCELLED
        await engine_once(runtime, lambda status: status.state == "ready")


async def test_a_cancel_ends_the_wait_for_a_pause(runtime: Address) -> None:
    options = {"debounceMs": 10_000}
    command = rule_server_command(text="x")
    async with editing(vscode(), runtime, server=command, options=options) as client:
        uri = open_document(client, "a.py", "y = ")
        send_inline(client, ask_inline(uri, 0, 3), "lone")
        answer = send_inline(client, ask_inline(uri, 0, 4), "quick")
        await asyncio.sleep(0)
        client.cancel_request(types.CancelParams("quick"))
        with pytest.raises(JsonRpcException) as raised:
            await asyncio.wait_for(answer, 5)
        assert raised.value.code == REQUEST_CANCELLED


async def test_a_newer_request_ends_the_older_which_is_answered_with_null(runtime: Address) -> None:
    command = rule_server_command(**HANGING)
    async with editing(vscode(), runtime, server=command, options=PATIENT) as client:
        uri = open_document(client, "a.py", "y = ")
        older = send_inline(client, ask_inline(uri, 0, 4), "older")
        await engine_once(runtime, lambda status: status.state == "filling")
        newer = send_inline(client, ask_inline(uri, 0, 3), "newer")
        assert await answered(older) is None
        client.cancel_request(types.CancelParams("newer"))
        with pytest.raises(JsonRpcException):
            await answered(newer)


async def test_only_the_last_of_a_burst_of_keys_is_filled(runtime: Address) -> None:
    options = {"debounceMs": 300}
    command = rule_server_command(text="x", step_seconds=0.3)
    async with editing(vscode(), runtime, server=command, options=options) as client:
        await engine_once(runtime, lambda status: status.state == "ready")
        uri = open_document(client, "a.py", "")
        answers = []
        for number in range(1, 6):
            change_document(client, uri, "y = "[:number], number + 1)
            answers.append(send_inline(client, ask_inline(uri, 0, number), f"key {number}"))
        *older, last = [await answered(answer) for answer in answers]
        assert older == [None] * 4
        assert isinstance(last, types.InlineCompletionList)
        await engine_once(runtime, lambda status: status.num_fills == 1)


async def test_requests_of_other_documents_go_on(runtime: Address) -> None:
    command = rule_server_command(rules=[("one =", "1"), ("two =", "2")], step_seconds=0.1)
    async with editing(vscode(), runtime, server=command, options=PATIENT) as client:
        one = open_document(client, "one.py", "one = ")
        two = open_document(client, "two.py", "two = ")
        both = await asyncio.gather(
            inline_items(client, ask_inline(one, 0, 6)), inline_items(client, ask_inline(two, 0, 6))
        )
        assert [[item.insert_text for item in items] for items in both] == [["1"], ["2"]]


async def test_a_stale_answer_is_never_sent(runtime: Address) -> None:
    command = rule_server_command(text="x", step_seconds=0.3, num_steps=2)
    async with editing(vscode(), runtime, server=command, options=PATIENT) as client:
        uri = open_document(client, "a.py", "y = ")
        answer = send_inline(client, ask_inline(uri, 0, 4), "first")
        await engine_once(runtime, lambda status: status.state == "filling")
        change_document(client, uri, "z = 1\ny = ", 2)
        assert await answered(answer) is None
        (item,) = await inline_items(client, ask_inline(uri, 1, 4))
        assert item.insert_text == "x"


async def test_a_closed_document_ends_its_request(runtime: Address) -> None:
    command = rule_server_command(**HANGING)
    async with editing(vscode(), runtime, server=command, options=PATIENT) as client:
        uri = open_document(client, "a.py", "y = ")
        answer = send_inline(client, ask_inline(uri, 0, 4), "first")
        await engine_once(runtime, lambda status: status.state == "filling")
        identifier = types.TextDocumentIdentifier(uri)
        client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
        assert await answered(answer) is None
        await engine_once(runtime, lambda status: status.state == "ready")


async def test_shutdown_answers_what_still_runs(runtime: Address) -> None:
    command = rule_server_command(**HANGING)
    async with editing(vscode(), runtime, server=command, options=PATIENT) as client:
        uri = open_document(client, "a.py", "y = ")
        answer = send_inline(client, ask_inline(uri, 0, 4), "first")
        await engine_once(runtime, lambda status: status.state == "filling")
        await client.shutdown_async(None)
        assert await answered(answer) is None
        client.exit(None)
        assert await client._server.wait() == 0
        client.capabilities = None  # no second shutdown at the end


async def test_a_deadline_gives_what_there_is(runtime: Address) -> None:
    options = {"debounceMs": 0, "deadlineMs": 300}
    command = rule_server_command(text="a + b + c", step_seconds=0.2, num_steps=1_000)
    async with editing(vscode(), runtime, server=command, options=options) as client:
        uri = open_document(client, "a.py", "y = ")
        await asyncio.wait_for(inline_items(client, ask_inline(uri, 0, 4)), 10)
        await engine_once(runtime, lambda status: status.state == "ready")


async def test_a_cancel_that_crosses_its_answer_is_no_warning(runtime: Address) -> None:
    command = rule_server_command(text="x")
    async with editing(vscode(), runtime, server=command, options=PATIENT) as client:
        uri = open_document(client, "a.py", "y = ")
        await answered(send_inline(client, ask_inline(uri, 0, 4), "answered"))
        client.cancel_request(types.CancelParams("answered"))
        assert await inline_items(client, ask_inline(uri, 0, 4))
        assert "answered" not in log_of(client)
