"""The server before the real engine with the real default model, as two editors see it."""

from collections.abc import Callable

import pytest
from editor_clients import (
    ask_inline,
    connected,
    editing,
    inline_items,
    log_of,
    neovim,
    open_document,
    vscode,
)
from engine_watch import status_of
from extended_client import asking_for, last_items, notified, record
from lsprotocol import types

from intarsia.engine.ipc.address import Address

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

PATIENT = {"debounceMs": 0, "deadlineMs": 60_000, "invokedDeadlineMs": 60_000}
ALONE = {**PATIENT, "fillAhead": "off", "nextEdit": "off"}
"""No work in idle time, which could have the context while the other client asks for it."""

SOURCE = '''"""Plain arithmetic."""


def add(left, right):
    """Return the sum of left and right."""
    return {}


print(add(1, 2))
'''


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_a_line_is_filled_at_the_cursor(
    real_engine_runtime: Address, who: Callable[[], types.InitializeParams]
) -> None:
    async with editing(who(), real_engine_runtime, options=PATIENT) as client:
        uri = open_document(client, "arithmetic.py", SOURCE.format(""))
        (item,) = await inline_items(client, ask_inline(uri, 5, 11))
        assert item.insert_text == "left + right"
        cursor = types.Position(5, 11)
        assert item.range == types.Range(cursor, cursor)


async def test_an_invoked_request_gets_distinct_candidates(real_engine_runtime: Address) -> None:
    async with editing(vscode(), real_engine_runtime, options=PATIENT) as client:
        uri = open_document(client, "arithmetic.py", SOURCE.format(""))
        items = await inline_items(client, ask_inline(uri, 5, 11, is_invoked=True))
        texts = [item.insert_text for item in items]
        assert texts[0] == "left + right"
        assert 2 <= len(texts) == len(set(texts))


async def test_a_block_is_filled_in_a_file_with_crlf(real_engine_runtime: Address) -> None:
    text = "function add(left, right) {\r\n  \r\n}\r\n\r\nconsole.log(add(1, 2));\r\n"
    async with editing(vscode(), real_engine_runtime, options=PATIENT) as client:
        uri = open_document(client, "add.js", text, "javascript")
        (item,) = await inline_items(client, ask_inline(uri, 1, 2))
        assert "return left + right" in item.insert_text


async def test_two_servers_share_one_engine_and_its_prefix(real_engine_runtime: Address) -> None:
    async with (
        editing(vscode(), real_engine_runtime, options=ALONE) as one,
        editing(neovim(), real_engine_runtime, options=ALONE) as other,
    ):
        for client in (one, other):
            uri = open_document(client, "arithmetic.py", SOURCE.format(""))
            assert await inline_items(client, ask_inline(uri, 5, 11))
        assert "context tokens: 0 computed" in log_of(other)
        status = await status_of(real_engine_runtime)
        assert status is not None
        assert status.num_clients == 3
        assert status.cached_tokens > 0


async def test_a_draft_settles_into_the_answer(real_engine_runtime: Address) -> None:
    async with connected(real_engine_runtime) as client:
        messages = record(client)
        who = asking_for(vscode(), drafts=True)
        who.initialization_options = PATIENT
        await client.initialize_session(who)
        uri = open_document(client, "arithmetic.py", SOURCE.format("le"))
        (item,) = await inline_items(client, ask_inline(uri, 5, 13))
        drafts = notified(messages, "intarsia/draft")
        await client.shutdown_session()
    assert item.insert_text == "ft + right"
    settled = [
        "".join(token["text"] for token in draft["tokens"] if token["settled"]) for draft in drafts
    ]
    assert settled[0]
    assert all(item.insert_text.startswith(text) for text in settled)
    assert [len(text) for text in settled] == sorted(len(text) for text in settled)


async def test_confidences_are_probabilities_of_the_parts_of_the_text(
    real_engine_runtime: Address,
) -> None:
    async with connected(real_engine_runtime) as client:
        messages = record(client)
        who = asking_for(vscode(), confidence=True)
        who.initialization_options = PATIENT
        await client.initialize_session(who)
        uri = open_document(client, "arithmetic.py", SOURCE.format(""))
        assert await inline_items(client, ask_inline(uri, 5, 11))
        await client.shutdown_session()
    (item,) = last_items(messages)
    tokens = item["intarsia"]["tokens"]
    assert len(tokens) > 1
    assert "".join(token["text"] for token in tokens) == item["insertText"]
    assert all(0 <= token["confidence"] <= 1 for token in tokens)
    assert item["insertText"].startswith(item["intarsia"]["sure"])
