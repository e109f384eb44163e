"""A client that asked sees its suggestion decoding: in time, at the right place, and no longer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from editor_clients import Page
from engine_watch import engine_once, until
from extended_client import Message, notified, told_page
from lsprotocol import types
from open_documents import taken

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import CanvasToken, Step
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.status import Drafts

DRAFT = "intarsia/draft"
# No draft waits for a sure start.
OPTIONS = {"invokedDeadlineMs": 60_000, "showThreshold": 0}


@asynccontextmanager
async def drafting(runtime, text="y = ", /, **how) -> AsyncIterator[tuple[Page, list[Message]]]:
    """Open a document in a client that asked for drafts; its model is loaded."""
    how["options"] = {**OPTIONS, **how.get("options", {})}
    async with told_page(runtime, text, "drafts", **how) as (user, messages):
        await engine_once(runtime, lambda status: status.state == "ready")
        yield user, messages


def texts(drafts: list[Any]) -> list[str]:
    return ["".join(token["text"] for token in draft["tokens"]) for draft in drafts]


def since_answer(messages: list[Message], id: str) -> list[Message]:
    return messages[next(at for at, it in enumerate(messages) if it.get("id") == id) :]


async def answered(answer: "asyncio.Future[Any]") -> Any:
    return await asyncio.wait_for(answer, 20)


async def some_draft(messages: list[Message]) -> None:
    await until(lambda: bool(notified(messages, DRAFT)))


async def all_is_read(user: Page) -> None:
    """Wait for an answer that comes after what was sent before."""
    assert await Page(user.client, "file:///no.py").shown(0, 0) == []


async def test_a_draft_says_where_how_far_and_what(runtime: Address) -> None:
    model = {"text": "a + b", "step_seconds": 0.06}
    async with drafting(runtime, "x = 1\ny = ", **model) as (user, messages):
        assert await user.shown(1, 4) == ["a + b"]
        first, *_, last = notified(messages, DRAFT)
        cursor = {"line": 1, "character": 4}
        assert first == {
            "textDocument": {"uri": user.uri, "version": 1},
            "range": {"start": cursor, "end": cursor},
            "step": 1,
            "tokens": [
                {"text": "a", "confidence": 1.0, "settled": True},
                {"text": " +", "confidence": 0.5, "settled": False},
                {"text": " b", "confidence": 0.5, "settled": False},
            ],
        }
        assert texts([first, last]) == ["a + b"] * 2


async def test_no_draft_comes_after_its_answer(runtime: Address) -> None:
    model = {"text": "x", "num_steps": 30, "step_seconds": 0.004}
    async with drafting(runtime, **model) as (user, messages):
        await answered(user.send(0, 4, "only"))
        user.change("z = ")
        await answered(user.send(0, 4, "next"))
        num_after = len(since_answer(messages, "next"))
        between = since_answer(messages, "only")[:-num_after]
        assert {draft["textDocument"]["version"] for draft in notified(between, DRAFT)} == {2}


async def test_no_draft_comes_once_the_document_has_moved(runtime: Address) -> None:
    model = {"text": "x", "num_steps": 40, "step_seconds": 0.03}
    async with drafting(runtime, **model) as (user, messages):
        answer = user.send(0, 4, "stale")
        await some_draft(messages)
        user.change("y = z")
        await all_is_read(user)
        num_messages = len(messages)
        assert await answered(answer) is None
        assert notified(messages[num_messages:], DRAFT) == []


async def test_a_request_that_is_outrun_shows_no_more_drafts(runtime: Address) -> None:
    model = {"rules": [("y =", "old"), ("y", "new")], "num_steps": 30, "step_seconds": 0.02}
    async with drafting(runtime, **model) as (user, messages):
        older = user.send(0, 4, "older")
        await some_draft(messages)
        newer = user.send(0, 1, "newer")
        assert await answered(older) is None
        await answered(newer)
        late = notified(since_answer(messages, "older"), DRAFT)
        assert {draft["range"]["start"]["character"] for draft in late} == {1}


async def test_alternatives_are_not_drafted_nor_what_is_known_already(runtime: Address) -> None:
    model = {"text": "a{alternative}", "num_steps": 3, "step_seconds": 0.06}
    async with drafting(runtime, **model) as (user, messages):
        assert await user.shown(0, 4, is_invoked=True) == ["a0", "a1", "a2"]
        assert set(texts(notified(messages, DRAFT))) == {"a0"}
        num_messages = len(messages)
        assert await user.shown(0, 4)
        assert notified(messages[num_messages:], DRAFT) == []


async def test_with_a_word_of_the_menu_selected_or_drafts_off_there_is_none(runtime):
    model = {"text": "(a)", "num_steps": 3, "step_seconds": 0.06}
    word = types.Range(types.Position(0, 4), types.Position(0, 6))
    selected = types.SelectedCompletionInfo(word, "foo")
    async with drafting(runtime, "y = fo", **model) as (user, messages):
        assert await user.shown(0, 6, selected=selected) == ["foo(a)"]
        assert notified(messages, DRAFT) == []
    async with drafting(runtime, options={"drafts": False}, **model) as (user, messages):
        assert await user.shown(0, 4)
        assert notified(messages, DRAFT) == []


async def test_a_draft_has_the_line_ends_of_its_document(runtime: Address) -> None:
    model = {"text": "\n    a\n    b", "num_steps": 2, "step_seconds": 0.06}
    async with drafting(runtime, "x = 1\r\ndef f():", **model) as (user, messages):
        (shown,) = await user.shown(1, 8)
        assert shown == "\r\n    a\r\n    b"
        assert texts(notified(messages, DRAFT))[0] == shown


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
async def test_a_draft_has_no_hidden_character(text, written, shown):
    sent: list[Any] = []
    session = IntarsiaServer().session
    session.documents.open(types.TextDocumentItem(URI, "python", 1, text))
    drafts = Drafts(lambda _, draft: sent.append(draft), session.documents)
    with drafts.of(taken(session, URI, types.Position(9, 0))) as on_step:
        tokens = tuple(CanvasToken(token, 0.5, True) for token in written)
        on_step(Step(id=1, step=1, tokens=tokens))
    assert [token.text for token in sent[0].tokens] == shown
