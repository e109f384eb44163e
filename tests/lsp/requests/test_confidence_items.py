"""Each item says how sure the model was of its parts, to a client that asked to know."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from editor_clients import ask_inline, connected, inline_items, insert, open_document, vscode
from extended_client import Message, asking_for, last_items, record
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address
from intarsia.infill.confidence import ConfidentToken
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.requests.inline_completion import confident_list
from intarsia.lsp.suggestions.ghost_text import GhostText

FAST = {"debounceMs": 0, "deadlineMs": 60_000}


@asynccontextmanager
async def asking(
    runtime: Address, options: dict[str, Any] | None = None, **rules: object
) -> AsyncIterator[tuple[LanguageClient, list[Message]]]:
    """Run a server for a client that asked for confidence."""
    async with connected(runtime, rule_server(**rules)) as client:
        messages = record(client)
        who = asking_for(vscode(), confidence=True)
        who.initialization_options = {**FAST, **(options or {})}
        await client.initialize_session(who)
        yield client, messages
        await client.shutdown_session()


async def test_an_item_tells_its_tokens_and_what_is_sure(runtime: Address) -> None:
    async with asking(runtime, text="add(left, right)", unsure=["right"]) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        (item,) = last_items(messages)
        cursor = {"line": 0, "character": 4}
        assert item == {
            "insertText": "add(left, right)",
            "range": {"start": cursor, "end": cursor},
            "intarsia": {
                "tokens": [
                    {"text": "add", "confidence": 1.0},
                    {"text": "(", "confidence": 1.0},
                    {"text": "left", "confidence": 1.0},
                    {"text": ",", "confidence": 1.0},
                    {"text": " right", "confidence": 0.3},
                    {"text": ")", "confidence": 1.0},
                ],
                "sure": "add(left,",
            },
        }


async def test_how_sure_is_sure_is_an_option(runtime: Address) -> None:
    options = {"sureConfidence": 0.3}
    async with asking(runtime, options, text="a + b", unsure=["b"]) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        assert last_items(messages)[0]["intarsia"]["sure"] == "a + b"


async def test_what_cleaning_cuts_and_adds_is_told_right(runtime: Address) -> None:
    raw = "\n\n    return left # more\n\ndef g():\n    pass"
    async with asking(runtime, text=raw, unsure=["left"]) as (client, messages):
        uri = open_document(client, "a.py", "\t# tabs\r\ndef f(left):")
        assert await inline_items(client, ask_inline(uri, 1, 12))
        (item,) = last_items(messages)
        tokens = item["intarsia"]["tokens"]
        assert item["insertText"] == "\r\n\treturn left # more"
        assert "".join(token["text"] for token in tokens) == item["insertText"]
        assert [token["text"] for token in tokens if token["confidence"] < 1] == [" left"]
        assert item["intarsia"]["sure"] == "\r\n\treturn"


async def test_the_word_selected_in_the_menu_belongs_to_the_tokens_and_is_sure(
    runtime: Address,
) -> None:
    async with asking(runtime, {"overMenu": True}, text="(a)", unsure=["("]) as (client, messages):
        uri = open_document(client, "a.py", "y = fo")
        word = types.Range(types.Position(0, 4), types.Position(0, 6))
        selected = types.SelectedCompletionInfo(word, "foo")
        assert await inline_items(client, ask_inline(uri, 0, 6, selected=selected))
        (item,) = last_items(messages)
        assert item["intarsia"]["tokens"][:2] == [
            {"text": "foo", "confidence": 1.0},
            {"text": "(", "confidence": 0.3},
        ]
        assert (item["insertText"], item["intarsia"]["sure"]) == ("foo(a)", "foo")


async def test_typing_along_keeps_the_tokens_of_the_rest(runtime: Address) -> None:
    text = "add(left, right)"
    async with asking(runtime, text=text, unsure=["left"]) as (client, messages):
        uri = open_document(client, "a.py", "y = ")
        for typed, sign in enumerate(text[:-1]):
            assert await inline_items(client, ask_inline(uri, 0, 4 + typed))
            (item,) = last_items(messages)
            tokens = item["intarsia"]["tokens"]
            assert item["insertText"] == text[typed:]
            assert "".join(token["text"] for token in tokens) == text[typed:]
            unsure = [token["text"] for token in tokens if token["confidence"] < 1]
            assert unsure == (["left"[max(0, typed - 4) :]] if typed < 8 else [])
            insert(client, uri, types.Position(0, 4 + typed), sign, typed + 2)


def test_nothing_is_told_where_the_models_server_tells_no_probability() -> None:
    document = Document(
        uri="file:///a.py",
        language_id="python",
        version=1,
        encoding="utf-16",
        text="y = ",
        line_starts=(0,),
    )
    snapshot = Snapshot(document=document, text="y = ", offset=4, selected=None)
    tokens = (ConfidentToken("f(", None), ConfidentToken(")", 1.0))
    (item,) = confident_list(snapshot, [GhostText("f()", tokens)], 0.7).items
    assert item.insert_text == "f()"
    assert "intarsia" not in msgspec.to_builtins(item, enc_hook=str)
