"""Idle time: the next suggestions and texts are read ahead, never in the way of a request."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from client_edits import code_actions, cursor
from editor_clients import (
    ask_inline,
    change_document,
    editing,
    inline_items,
    insert,
    open_document,
    vscode,
)
from engine_watch import engine_once, status_of
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server
from short_pauses import PAUSE_S

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import Status

pytestmark = pytest.mark.usefixtures("short_pauses")

BEFORE = "first = 1\ny = "
TEXT = BEFORE + "\nlast = 3\n"
SHOWN = "call(a)"
AT = (1, 4)
AFTER = types.Position(1, 4 + len(SHOWN))
START = BEFORE.rstrip()  # the blank before a hole is given, and no part of its prefix
RULES = [[START, SHOWN], [BEFORE + "call(a", ""], [BEFORE + SHOWN + "\n", "z = 2"]]


@asynccontextmanager
async def looking(
    runtime: Address, *, options: Mapping[str, object] | None = None, **engine: object
) -> AsyncIterator[LanguageClient]:
    """Run a server with an engine that writes by ``RULES``, whatever the computer's power."""
    options = {"debounceMs": 0, "fillAhead": "always", **(options or {})}
    server = rule_server(**{"rules": RULES, "text": "", **engine})
    async with editing(vscode(), runtime, server=server, options=options) as client:
        yield client


async def shown_in(client: LanguageClient, uri: str, line: int, character: int) -> list[str]:
    items = await inline_items(client, ask_inline(uri, line, character))
    return [item.insert_text for item in items]


async def asked_ahead(runtime: Address, count: int) -> Status:
    return await engine_once(runtime, lambda it: it.ahead.num_asked >= count)


async def test_after_accepting_and_on_the_next_line_the_answer_is_there(runtime: Address) -> None:
    async with looking(runtime) as client:
        uri = open_document(client, "a.py", TEXT)
        assert await shown_in(client, uri, *AT) == [SHOWN]
        await asked_ahead(runtime, 2)
        insert(client, uri, types.Position(*AT), SHOWN, 2)
        assert await shown_in(client, uri, AFTER.line, AFTER.character) == []
        insert(client, uri, AFTER, "\n", 3)
        assert await shown_in(client, uri, 2, 0) == ["z = 2"]
        status = await engine_once(runtime, lambda it: it.ahead.num_hits == 2)
        assert status.num_fills <= 2  # what the user waited for: the first answer's two attempts
        assert 0 < status.ahead.used_s <= status.ahead.spent_s


async def test_where_nothing_fits_the_line_below_is_asked_for(runtime: Address) -> None:
    rules = [[TEXT.rstrip() + "\n", "z = 2"]]
    async with looking(runtime, rules=rules) as client:
        uri = open_document(client, "a.py", TEXT.rstrip())
        assert await shown_in(client, uri, 2, 8) == []
        await asked_ahead(runtime, 1)
        insert(client, uri, types.Position(2, 8), "\n", 2)
        fills = await status_of(runtime)
        assert await shown_in(client, uri, 3, 0) == ["z = 2"]
        after = await engine_once(runtime, lambda it: it.ahead.num_hits == 1)
        assert fills is not None and fills.num_fills == after.num_fills


async def test_nothing_is_asked_where_the_setting_is_off(runtime: Address) -> None:
    async with looking(runtime, options={"fillAhead": "off"}) as client:
        uri = open_document(client, "a.py", TEXT)
        assert await shown_in(client, uri, *AT) == [SHOWN]
        await asyncio.sleep(6 * PAUSE_S)
        status = await status_of(runtime)
        assert status is not None and status.ahead.num_asked == 0


SLOW = {"rules": [[START, SHOWN], ["other =", "7"]], "text": "a b c d e f g h i j k l m n o p"}


async def started_ahead(client: LanguageClient, runtime: Address, uri: str) -> None:
    assert await shown_in(client, uri, *AT) == [SHOWN]
    await engine_once(runtime, lambda it: it.state == "filling")


async def test_a_request_elsewhere_ends_it_within_one_pass(runtime: Address) -> None:
    async with looking(runtime, step_seconds=0.3, **SLOW) as client:
        other = open_document(client, "b.py", "other = ")
        uri = open_document(client, "a.py", TEXT)
        await started_ahead(client, runtime, uri)
        started = time.monotonic()
        assert await shown_in(client, other, 0, 8) == ["7"]
        assert time.monotonic() - started < 1.5  # a pass of the old fill, one of its own; not 16
        status = await asked_ahead(runtime, 1)
        assert status.ahead.num_hits == 0 < status.ahead.spent_s


@pytest.mark.parametrize("how", ["typed", "closed"])
async def test_it_ends_where_the_document_becomes_another(runtime: Address, how: str) -> None:
    async with looking(runtime, step_seconds=0.3, **SLOW) as client:
        uri = open_document(client, "a.py", TEXT)
        await started_ahead(client, runtime, uri)
        if how == "typed":
            change_document(client, uri, TEXT + "more\n", 2)
        else:
            closed = types.TextDocumentIdentifier(uri)
            client.text_document_did_close(types.DidCloseTextDocumentParams(closed))
        status = await engine_once(runtime, lambda it: it.state == "ready")
        assert status.ahead.spent_s < 16 * 0.3


async def test_a_user_who_does_not_wait_gets_no_stale_answer(runtime: Address) -> None:
    async with looking(runtime) as client:
        uri = open_document(client, "a.py", TEXT)
        assert await shown_in(client, uri, *AT) == [SHOWN]
        await asked_ahead(runtime, 2)
        edited = TEXT.replace("last", "other")
        change_document(client, uri, edited[: len(BEFORE)] + SHOWN + edited[len(BEFORE) :], 2)
        await shown_in(client, uri, AFTER.line, AFTER.character)
        status = await status_of(runtime)
        assert status is not None and status.ahead.num_hits == 0


async def test_an_invoked_request_is_not_told_that_nothing_fits_without_asking(
    runtime: Address,
) -> None:
    async with looking(runtime) as client:
        uri = open_document(client, "a.py", TEXT)
        assert await shown_in(client, uri, *AT) == [SHOWN]
        fills = await asked_ahead(runtime, 2)
        insert(client, uri, types.Position(*AT), SHOWN, 2)
        place = ask_inline(uri, AFTER.line, AFTER.character, is_invoked=True)
        await inline_items(client, place)
        await engine_once(runtime, lambda it: it.num_fills > fills.num_fills)


async def test_in_a_notebook_it_ends_where_any_cell_becomes_another(runtime: Address) -> None:
    async with looking(runtime, step_seconds=0.3, **SLOW) as client:
        name, uris = (
            "file:///work/a.ipynb",
            [f"vscode-notebook-cell:/work/a.ipynb#{i}" for i in "ab"],
        )
        texts = [types.TextDocumentItem(uri, "python", 1, TEXT) for uri in uris]
        texts[1] = types.TextDocumentItem(uris[1], "python", 1, "other = 1\n")
        cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in uris]
        client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(name, "jupyter-notebook", 1, cells), texts
            )
        )
        await started_ahead(client, runtime, uris[0])
        text = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(2, uris[1]),
            [types.TextDocumentContentChangeWholeDocument("more = 2\n")],
        )
        changed = types.NotebookDocumentCellChanges(text_content=[text])
        client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(version=2, uri=name),
                types.NotebookDocumentChangeEvent(cells=changed),
            )
        )
        status = await engine_once(runtime, lambda it: it.state == "ready")
        assert status.ahead.spent_s < 16 * 0.3


async def test_what_the_deadline_has_cut_short_is_not_kept(runtime: Address) -> None:
    options = {"deadlineMs": 1000}
    async with looking(runtime, options=options, step_seconds=0.15, **SLOW) as client:
        uri = open_document(client, "a.py", TEXT)
        assert await shown_in(client, uri, *AT) == [SHOWN]
        await asked_ahead(runtime, 2)
        insert(client, uri, types.Position(*AT), SHOWN, 2)
        await shown_in(client, uri, AFTER.line, AFTER.character)
        status = await status_of(runtime)
        assert status is not None and status.ahead.num_hits == 0


COMMAND = rule_server(text="1")
READ = "one = \ntwo = 2\nthree = 3\n"
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
        uri = open_document(client, "a.py", READ)
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
        filled = open_document(client, "filled.py", READ)
        assert await inline_items(client, ask_inline(filled, 0, 6))
        before = await status_of(runtime)
        uri = open_document(client, name, READ, "ruby" if name.endswith("rb") else "python")
        if is_edited:
            insert(client, uri, types.Position(2, 0), "x\n", 2)
        await rest_at(client, uri, 3)
        await asyncio.sleep(6 * PAUSE_S)
        after = await status_of(runtime)
        assert before is not None and after is not None
        assert after.cached_tokens == before.cached_tokens
