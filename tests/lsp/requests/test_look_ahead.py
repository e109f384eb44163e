"""Idle time: the next suggestions and texts are read ahead, never in the way of a request."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from client_edits import code_actions, cursor
from editor_clients import Page, open_document, page
from engine_watch import engine_once, status_of
from lsprotocol import types
from short_pauses import PAUSE_S

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import Status

pytestmark = pytest.mark.usefixtures("short_pauses")

BEFORE = "first = 1\ny = "
TEXT = BEFORE + "\nlast = 3\n"
SHOWN = "call(a)"
AT = (1, 4)
AFTER = (1, 4 + len(SHOWN))
START = BEFORE.rstrip()  # the blank before a hole is given, and no part of its prefix
RULES = [[START, SHOWN], [BEFORE + "call(a", ""], [BEFORE + SHOWN + "\n", "z = 2"]]


@asynccontextmanager
async def looking(runtime, text=TEXT, /, *, options=None, **engine) -> AsyncIterator[Page]:
    """Open a document whose engine writes by ``RULES``, whatever the computer's power."""
    options = {"fillAhead": "always", **(options or {})}
    async with page(
        runtime, text, options=options, **{"rules": RULES, "text": "", **engine}
    ) as user:
        yield user


async def asked_ahead(runtime: Address, count: int) -> Status:
    return await engine_once(runtime, lambda it: it.ahead.num_asked >= count)


async def test_after_accepting_and_on_the_next_line_the_answer_is_there(runtime: Address) -> None:
    async with looking(runtime) as user:
        assert await user.shown(*AT) == [SHOWN]
        await asked_ahead(runtime, 2)
        user.insert(*AT, SHOWN)
        assert await user.shown(*AFTER) == []
        user.insert(*AFTER, "\n")
        assert await user.shown(2, 0) == ["z = 2"]
        status = await engine_once(runtime, lambda it: it.ahead.num_hits == 2)
        assert status.num_fills <= 2  # what the user waited for: the first answer's two attempts
        assert 0 < status.ahead.used_s <= status.ahead.spent_s


async def test_where_nothing_fits_the_line_below_is_asked_for(runtime: Address) -> None:
    rules = [[TEXT.rstrip() + "\n", "z = 2"]]
    async with looking(runtime, TEXT.rstrip(), rules=rules) as user:
        assert await user.shown(2, 8) == []
        await asked_ahead(runtime, 1)
        user.insert(2, 8, "\n")
        fills = await status_of(runtime)
        assert await user.shown(3, 0) == ["z = 2"]
        after = await engine_once(runtime, lambda it: it.ahead.num_hits == 1)
        assert fills is not None and fills.num_fills == after.num_fills


async def test_nothing_is_asked_where_the_setting_is_off(runtime: Address) -> None:
    async with looking(runtime, options={"fillAhead": "off"}) as user:
        assert await user.shown(*AT) == [SHOWN]
        await asyncio.sleep(6 * PAUSE_S)
        status = await status_of(runtime)
        assert status is not None and status.ahead.num_asked == 0


SLOW = {"rules": [[START, SHOWN], ["other =", "7"]], "text": "a b c d e f g h i j k l m n o p"}


async def started_ahead(user: Page, runtime: Address) -> None:
    assert await user.shown(*AT) == [SHOWN]
    await engine_once(runtime, lambda it: it.state == "filling")


async def test_a_request_elsewhere_ends_it_within_one_pass(runtime: Address) -> None:
    async with looking(runtime, step_seconds=0.3, **SLOW) as user:
        other = Page(user.client, open_document(user.client, "b.py", "other = "))
        await started_ahead(user, runtime)
        started = time.monotonic()
        assert await other.shown(0, 8) == ["7"]
        assert time.monotonic() - started < 1.5  # a pass of the old fill, one of its own; not 16
        status = await asked_ahead(runtime, 1)
        assert status.ahead.num_hits == 0 < status.ahead.spent_s


@pytest.mark.parametrize("how", ["typed", "closed"])
async def test_it_ends_where_the_document_becomes_another(runtime: Address, how: str) -> None:
    async with looking(runtime, step_seconds=0.3, **SLOW) as user:
        await started_ahead(user, runtime)
        if how == "typed":
            user.change(TEXT + "more\n")
        else:
            user.close()
        status = await engine_once(runtime, lambda it: it.state == "ready")
        assert status.ahead.spent_s < 16 * 0.3


async def test_a_user_who_does_not_wait_gets_no_stale_answer(runtime: Address) -> None:
    async with looking(runtime) as user:
        assert await user.shown(*AT) == [SHOWN]
        await asked_ahead(runtime, 2)
        edited = TEXT.replace("last", "other")
        user.change(edited[: len(BEFORE)] + SHOWN + edited[len(BEFORE) :])
        await user.shown(*AFTER)
        status = await status_of(runtime)
        assert status is not None and status.ahead.num_hits == 0


async def test_an_invoked_request_is_not_told_that_nothing_fits_without_asking(runtime):
    async with looking(runtime) as user:
        assert await user.shown(*AT) == [SHOWN]
        fills = await asked_ahead(runtime, 2)
        user.insert(*AT, SHOWN)
        await user.shown(*AFTER, is_invoked=True)
        await engine_once(runtime, lambda it: it.num_fills > fills.num_fills)


async def test_in_a_notebook_it_ends_where_any_cell_becomes_another(runtime: Address) -> None:
    async with looking(runtime, step_seconds=0.3, **SLOW) as user:
        name, uris = (
            "file:///work/a.ipynb",
            [f"vscode-notebook-cell:/work/a.ipynb#{i}" for i in "ab"],
        )
        texts = [types.TextDocumentItem(uri, "python", 1, TEXT) for uri in uris]
        texts[1] = types.TextDocumentItem(uris[1], "python", 1, "other = 1\n")
        cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in uris]
        user.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(name, "jupyter-notebook", 1, cells), texts
            )
        )
        await started_ahead(Page(user.client, uris[0]), runtime)
        text = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(2, uris[1]),
            [types.TextDocumentContentChangeWholeDocument("more = 2\n")],
        )
        changed = types.NotebookDocumentCellChanges(text_content=[text])
        user.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(version=2, uri=name),
                types.NotebookDocumentChangeEvent(cells=changed),
            )
        )
        status = await engine_once(runtime, lambda it: it.state == "ready")
        assert status.ahead.spent_s < 16 * 0.3


async def test_what_the_deadline_has_cut_short_is_not_kept(runtime: Address) -> None:
    options = {"deadlineMs": 1000}
    async with looking(runtime, options=options, step_seconds=0.15, **SLOW) as user:
        assert await user.shown(*AT) == [SHOWN]
        await asked_ahead(runtime, 2)
        user.insert(*AT, SHOWN)
        await user.shown(*AFTER)
        status = await status_of(runtime)
        assert status is not None and status.ahead.num_hits == 0


READ = "one = \ntwo = 2\nthree = 3\n"
BEFORE_THREE = "one = \ntwo = 2\nx\n"
"""The text before the last line, once an ``x`` was typed into a line of its own."""


async def rest_at(user: Page, line: int) -> None:
    assert await code_actions(user.client, user.uri, cursor(line, 0), is_automatic=True) == []


async def test_where_the_cursor_rests_is_read_ahead(runtime: Address) -> None:
    async with page(runtime, READ, options={"fillAhead": "off"}, text="1") as user:
        user.insert(2, 0, "x\n")
        assert await user.shown(0, 6)  # the model is loaded
        await rest_at(user, 3)
        await engine_once(runtime, lambda it: it.cached_tokens == len(BEFORE_THREE))
