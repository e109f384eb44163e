"""The cursor comes to rest: the engine reads there in idle time, without a message."""

import asyncio
from collections.abc import Mapping

import pytest
from client_edits import code_actions, cursor
from editor_clients import ask_inline, editing, inline_items, insert, open_document, vscode
from engine_watch import engine_once, status_of
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server
from short_pauses import PAUSE_S

from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.usefixtures("short_pauses")

COMMAND = rule_server(text="1")
TEXT = "one = \ntwo = 2\nthree = 3\n"
BEFORE_THREE = "one = \ntwo = 2\nx\n"
"""The text before the last line, once an ``x`` was typed into a line of its own."""


async def rest_at(client: LanguageClient, uri: str, line: int) -> None:
    """Move the cursor, as an editor that shows a light bulb does."""
    assert await code_actions(client, uri, cursor(line, 0), is_automatic=True) == []


async def type_and_fill(client: LanguageClient, uri: str) -> None:
    """Edit the document, and have the model loaded by a fill."""
    insert(client, uri, types.Position(2, 0), "x\n", 2)
    assert await inline_items(client, ask_inline(uri, 0, 6))


async def test_where_the_cursor_rests_is_read_ahead(runtime: Address) -> None:
    options = {"fillAhead": "off"}
    async with editing(vscode(), runtime, server=COMMAND, options=options) as client:
        uri = open_document(client, "a.py", TEXT)
        await type_and_fill(client, uri)
        await rest_at(client, uri, 3)
        await engine_once(runtime, lambda it: it.cached_tokens == len(BEFORE_THREE))


@pytest.mark.parametrize(
    ("options", "name", "is_edited"),
    [
        ({}, "a.py", False),  # a document that is only read
        ({"readAhead": False}, "a.py", True),
        ({}, ".env", True),  # may hold secrets
        ({"disabledLanguages": ["ruby"]}, "a.rb", True),
    ],
)
async def test_no_other_place_is(
    runtime: Address, options: Mapping[str, object], name: str, is_edited: bool
) -> None:
    options = {"fillAhead": "off", **options}  # which would read more
    async with editing(vscode(), runtime, server=COMMAND, options=options) as client:
        filled = open_document(client, "filled.py", TEXT)
        assert await inline_items(client, ask_inline(filled, 0, 6))
        before = await status_of(runtime)
        uri = open_document(client, name, TEXT, "ruby" if name.endswith("rb") else "python")
        if is_edited:
            insert(client, uri, types.Position(2, 0), "x\n", 2)
        await rest_at(client, uri, 3)
        await asyncio.sleep(6 * PAUSE_S)
        after = await status_of(runtime)
        assert before is not None and after is not None
        assert after.cached_tokens == before.cached_tokens
