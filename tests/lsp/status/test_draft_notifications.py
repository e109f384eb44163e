"""A client that asked sees its suggestion decoding: in time, at the right place, and no longer."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from editor_clients import (
    ask_inline,
    change_document,
    connected,
    inline_items,
    open_document,
    vscode,
)
from engine_watch import engine_once, until
from extended_client import Message, asking_for, notified, record
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import CanvasToken, Step
from intarsia.lsp.documents.documents import Documents
from intarsia.lsp.documents.snapshot import Snapshot, take_snapshot
from intarsia.lsp.status.draft_notifications import Drafts

DRAFT = "intarsia/draft"
OPTIONS = {
    "debounceMs": 0,
    "deadlineMs": 60_000,
    "invokedDeadlineMs": 60_000,
    "showThreshold": 0,  # no draft waits for a sure start
}


@asynccontextmanager
async def drafting(
    runtime: Address, options: dict[str, Any] | None = None, **rules: object
) -> AsyncIterator[tuple[LanguageClient, list[Message]]]:
    """Run a server for a client that asked for drafts; its model is loaded."""
    async with connected(runtime, rule_server(**rules)) as client:
        messages = record(client)
        who = asking_for(vscode(), drafts=True)
        who.initialization_options = {**OPTIONS, **(options or {})}
        await client.initialize_session(who)
        await engine_once(runtime, lambda status: status.state == "ready")
        yield client, messages
        await client.shutdown_session()


def texts(drafts: list[Any]) -> list[str]:
    return ["".join(token["text"] for token in draft["tokens"]) for draft in drafts]


def index_of_answer(messages: list[Message], id: str) -> int:
    return next(at for at, message in enumerate(messages) if message.get("id") == id)


def send(client: LanguageClient, params: types.InlineCompletionParams, id: str) -> Any:
    method = types.TEXT_DOCUMENT_INLINE_COMPLETION
    return asyncio.ensure_future(client.protocol.send_request_async(method, params, msg_id=id))


async def some_draft(messages: list[Message]) -> None:
    async def has_come() -> bool:
        return bool(notified(messages, DRAFT))

    await until(has_come)


async def test_a_draft_says_where_how_far_and_what(runtime: Address) -> None:
    async with drafting(runtime, text="a + b", step_seconds=0.06) as (client, messages):
        uri = open_document(client, "a.py", "x = 1\ny = ")
        (item,) = await inline_items(client, ask_inline(uri, 1, 4))
        first, *_, last = notified(messages, DRAFT)
        cursor = {"line": 1, "character": 4}
        assert first == {
            "textDocument": {"uri": uri, "version": 1},
            "range": {"start": cursor, "end": cursor},
            "step": 1,
            "tokens": [
                {"text": "a", "confidence": 1.0, "settled": True},
                {"text": " +", "confidence": 0.5, "settled": False},
                {"text": " b", "confidence": 0.5, "settled": False},
            ],
        }
        assert texts([first, last]) == ["a + b"] * 2
        assert item.insert_text == "a + b"


async def test_at_most_twenty_drafts_come_in_a_second(runtime: Address) -> None:
    async with drafting(runtime, text="x", num_steps=300, step_seconds=0.002) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        started = time.monotonic()
        assert await inline_items(client, ask_inline(uri, 0, 4))
        seconds = time.monotonic() - started
        steps = [draft["step"] for draft in notified(messages, DRAFT)]
        assert 2 <= len(steps) <= 1 + 20 * seconds
        assert steps == sorted(set(steps))


async def test_no_draft_comes_after_its_answer(runtime: Address) -> None:
    async with drafting(runtime, text="x", num_steps=30, step_seconds=0.004) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        await asyncio.wait_for(send(client, ask_inline(uri, 0, 4), "only"), 20)
        change_document(client, uri, "z = ", 2)
        await asyncio.wait_for(send(client, ask_inline(uri, 0, 4), "next"), 20)
        between = messages[index_of_answer(messages, "only") : index_of_answer(messages, "next")]
        assert {draft["textDocument"]["version"] for draft in notified(between, DRAFT)} == {2}


async def test_no_draft_comes_once_the_document_has_moved(runtime: Address) -> None:
    async with drafting(runtime, text="x", num_steps=40, step_seconds=0.03) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        answer = send(client, ask_inline(uri, 0, 4), "stale")
        await some_draft(messages)
        change_document(client, uri, "y = z", 2)
        # Answered after the change has been read:
        assert await inline_items(client, ask_inline("file:///no.py", 0, 0)) == []
        num_messages = len(messages)
        assert await asyncio.wait_for(answer, 20) is None
        assert notified(messages[num_messages:], DRAFT) == []


async def test_no_draft_comes_after_a_cancel(runtime: Address) -> None:
    async with drafting(runtime, text="x", num_steps=500, step_seconds=0.02) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        answer = send(client, ask_inline(uri, 0, 4), "cancelled")
        await some_draft(messages)
        client.cancel_request(types.CancelParams("cancelled"))
        with pytest.raises(JsonRpcException):
            await asyncio.wait_for(answer, 20)
        await engine_once(runtime, lambda status: status.state == "ready")
        assert await inline_items(client, ask_inline("file:///no.py", 0, 0)) == []
        assert notified(messages[index_of_answer(messages, "cancelled") :], DRAFT) == []


async def test_a_request_that_is_outrun_shows_no_more_drafts(runtime: Address) -> None:
    async with drafting(
        runtime, rules=[("y =", "old"), ("y", "new")], num_steps=30, step_seconds=0.02
    ) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        older = send(client, ask_inline(uri, 0, 4), "older")
        await some_draft(messages)
        newer = send(client, ask_inline(uri, 0, 1), "newer")
        assert await asyncio.wait_for(older, 20) is None
        await asyncio.wait_for(newer, 20)
        late = notified(messages[index_of_answer(messages, "older") :], DRAFT)
        assert {draft["range"]["start"]["character"] for draft in late} == {1}


async def test_alternatives_are_not_drafted(runtime: Address) -> None:
    async with drafting(runtime, text="a{alternative}", num_steps=3, step_seconds=0.06) as (
        client,
        messages,
    ):
        uri = open_document(client, "a.py", "y = ")
        items = await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True))
        assert [item.insert_text for item in items] == ["a0", "a1", "a2"]
        assert set(texts(notified(messages, DRAFT))) == {"a0"}


async def test_what_is_known_already_has_no_draft(runtime: Address) -> None:
    async with drafting(runtime, text="a + b") as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        num_messages = len(messages)
        assert await inline_items(client, ask_inline(uri, 0, 4))
        assert notified(messages[num_messages:], DRAFT) == []


async def test_while_the_menu_has_a_word_selected_there_is_no_draft(runtime: Address) -> None:
    options = {"overMenu": True}
    drafts = drafting(runtime, options, text="(a)", num_steps=3, step_seconds=0.06)
    async with drafts as (client, messages):
        uri = open_document(client, "a.py", "y = fo")
        word = types.Range(types.Position(0, 4), types.Position(0, 6))
        selected = types.SelectedCompletionInfo(word, "foo")
        (item,) = await inline_items(client, ask_inline(uri, 0, 6, selected=selected))
        assert item.insert_text == "foo(a)"
        assert notified(messages, DRAFT) == []


async def test_one_option_switches_drafts_off(runtime: Address) -> None:
    off = {"drafts": False}
    async with drafting(runtime, off, text="x", num_steps=3, step_seconds=0.06) as (
        client,
        messages,
    ):
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        assert notified(messages, DRAFT) == []


async def test_a_draft_has_the_line_ends_of_its_document(runtime: Address) -> None:
    async with drafting(runtime, text="\n    a\n    b", num_steps=2, step_seconds=0.06) as (
        client,
        messages,
    ):
        uri = open_document(client, "a.py", "x = 1\r\ndef f():")
        (item,) = await inline_items(client, ask_inline(uri, 1, 8))
        assert item.insert_text == "\r\n    a\r\n    b"
        assert texts(notified(messages, DRAFT))[0] == item.insert_text


URI = "file:///a.py"


@pytest.mark.parametrize(
    ("text", "written", "shown"),
    [
        ("x = ", ("1", " + 2"), ["1", " + 2"]),
        ("x = ", ("1", " +\x1b[2J", "3"), ["1", " +"]),
        ("x = ", ("1", "\u202e", "3"), ["1"]),
        ("# \u202e\nx = ", ("1", "\u202e", "3"), ["1", "\u202e", "3"]),
    ],
)
async def test_a_draft_has_no_hidden_character(
    text: str, written: tuple[str, ...], shown: list[str]
) -> None:
    sent: list[Any] = []
    documents = Documents()
    documents.open(types.TextDocumentItem(URI, "python", 1, text))
    snapshot = take_snapshot(documents, URI, types.Position(9, 0))
    assert isinstance(snapshot, Snapshot)
    drafts = Drafts(lambda _, draft: sent.append(draft), documents)
    with drafts.of(snapshot) as on_step:
        tokens = tuple(CanvasToken(token, 0.5, True) for token in written)
        on_step(Step(id=1, step=1, tokens=tokens))
    assert [token.text for token in sent[0].tokens] == shown
