"""The engine starts or fails; the editor goes on, and is told once."""

import asyncio
import json
import sys

import pytest
from editor_clients import (
    ask_inline,
    editing,
    inline_items,
    log_of,
    neovim,
    open_document,
    vscode,
)
from engine_watch import until
from lsprotocol import types
from rule_engine import rule_engine_launch
from rule_server import rule_server_command
from scripted_next_edits import rule

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, NextEdits, TextPart
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.engine.connection import EngineConnection
from intarsia.lsp.server import IntarsiaServer

FAST = {"debounceMs": 0, "deadlineMs": 60_000}
BROKEN_ENGINE = "import sys; sys.exit('no such luck')"
SERVE_BROKEN = f"""
import sys
from intarsia.engine.ipc.client import LaunchOptions
from intarsia.lsp.features import serve_stdio
sys.exit(serve_stdio(LaunchOptions(command=(sys.executable, "-c", {BROKEN_ENGINE!r}))))
"""


async def test_an_engine_that_does_not_start_is_told_once(runtime: Address) -> None:
    command = (sys.executable, "-c", SERVE_BROKEN)
    async with editing(vscode(), runtime, server=command, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        for _ in range(3):
            assert await inline_items(client, ask_inline(uri, 0, 4)) == []
        assert "the engine did not start" in log_of(client)
        shown = [message.message for message in client.messages]
        assert len([text for text in shown if "the engine did not start" in text]) == 1
        assert len(shown) == len(set(shown)) <= 2  # the second says that it has failed in a row


async def test_loading_is_shown_as_progress(runtime: Address) -> None:
    command = rule_server_command(text="1", load_seconds=0.5)
    async with editing(vscode(), runtime, server=command, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        (reports,) = client.progress_reports.values()
        assert isinstance(reports[0], types.WorkDoneProgressBegin)
        assert reports[0].title == "intarsia"
        assert any(isinstance(report, types.WorkDoneProgressReport) for report in reports)

        async def has_ended() -> bool:
            return isinstance(reports[-1], types.WorkDoneProgressEnd)

        await until(has_ended)


async def test_a_client_that_shows_no_progress_is_sent_none(runtime: Address) -> None:
    who = neovim()
    assert who.capabilities.window is not None
    who.capabilities.window.work_done_progress = False
    command = rule_server_command(text="1", load_seconds=0.2)
    async with editing(who, runtime, server=command, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        assert client.progress_reports == {}


async def test_a_runtime_folder_that_cannot_be_used_is_told(runtime: Address) -> None:
    runtime.directory.chmod(0o755)
    try:
        async with editing(vscode(), runtime, options=FAST) as client:
            uri = open_document(client, "a.py", "y = ")
            assert await inline_items(client, ask_inline(uri, 0, 4)) == []
            assert "INTARSIA_RUNTIME_DIR" in json.dumps([m.message for m in client.messages])
    finally:
        runtime.directory.chmod(0o700)


ASKED = FindNextEdits(
    id=0,
    parts=(TextPart(before="old()\n", after="old()\n", may_change=True),),
    example=EditExample(before="def old():\n", after="def new():\n"),
)


@pytest.fixture
def connection(runtime: Address, monkeypatch: pytest.MonkeyPatch) -> EngineConnection:
    for name, value in runtime.as_environment().items():
        monkeypatch.setenv(name, value)
    server = IntarsiaServer(rule_engine_launch(next_edits=[rule("old()", "new()")]))
    server.protocol.client_capabilities = types.ClientCapabilities()
    return server.session.engine


async def test_next_edits_can_be_asked_for_again_while_the_engine_starts(
    connection: EngineConnection, runtime: Address
) -> None:
    answer = await connection.find_next_edits(ASKED)
    assert answer == NoSuggestion(reason="no engine runs")
    loading = asyncio.create_task(connection.preload(None))
    await asyncio.sleep(0)
    assert await connection.find_next_edits(ASKED) is None
    await loading
    found = await connection.find_next_edits(ASKED)
    assert isinstance(found, NextEdits)
    await connection.close()
    async with EngineClient(name="test", start=False, address=runtime) as client:
        await client.stop()
