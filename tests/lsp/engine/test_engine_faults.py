"""The engine starts or fails; the editor goes on, and is told once."""

import asyncio
import json
import sys

import pytest
from editor_clients import SERVER, neovim, page
from engine_watch import until
from lsprotocol import types
from rule_engine import rule_engine_launch
from rule_server import rule_server_command
from scripted_next_edits import rule

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, NextEdits, TextPart
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.engine_connection import EngineConnection
from intarsia.lsp.server import IntarsiaServer

PATIENT = {"deadlineMs": 60_000}
BROKEN_ENGINE = "import sys; sys.exit('no such luck')"
SERVE_BROKEN = f"""
import sys
from intarsia.engine.ipc.client import LaunchOptions
from intarsia.lsp.method_table import serve_stdio
sys.exit(serve_stdio(LaunchOptions(command=(sys.executable, "-c", {BROKEN_ENGINE!r}))))
"""


async def test_an_engine_that_does_not_start_is_told_once(runtime: Address) -> None:
    server = (sys.executable, "-c", SERVE_BROKEN)
    async with page(runtime, "y = ", server=server, options=PATIENT) as user:
        for _ in range(3):
            assert await user.shown(0, 4) == []
        assert "the engine did not start" in user.log
        shown = [message.message for message in user.client.messages]
        assert len([text for text in shown if "the engine did not start" in text]) == 1
        assert len(shown) == len(set(shown)) <= 2  # the second says that it has failed in a row


@pytest.mark.parametrize("can_show_it", [True, False])
async def test_loading_is_shown_as_progress(runtime: Address, can_show_it: bool) -> None:
    who = neovim()
    who.capabilities.window.work_done_progress = can_show_it
    server = rule_server_command(text="1", load_seconds=0.5)
    async with page(runtime, "y = ", who=who, server=server, options=PATIENT) as user:
        assert await user.shown(0, 4)
        if not can_show_it:
            assert user.client.progress_reports == {}
            return
        (reports,) = user.client.progress_reports.values()
        assert isinstance(reports[0], types.WorkDoneProgressBegin)
        assert reports[0].title == "intarsia"
        assert any(isinstance(report, types.WorkDoneProgressReport) for report in reports)
        await until(lambda: isinstance(reports[-1], types.WorkDoneProgressEnd))


async def test_a_runtime_folder_that_cannot_be_used_is_told(runtime: Address) -> None:
    runtime.directory.chmod(0o755)
    try:
        async with page(runtime, "y = ", server=SERVER, options=PATIENT) as user:
            assert await user.shown(0, 4) == []
            told = [message.message for message in user.client.messages]
            assert "INTARSIA_RUNTIME_DIR" in json.dumps(told)
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


async def test_next_edits_can_be_asked_for_again_while_the_engine_starts(connection, runtime):
    answer = await connection.find_next_edits(ASKED)
    assert answer == NoSuggestion(reason="no engine is running")
    loading = asyncio.create_task(connection.preload(None))
    await asyncio.sleep(0)
    assert await connection.find_next_edits(ASKED) is None
    await loading
    found = await connection.find_next_edits(ASKED)
    assert isinstance(found, NextEdits)
    await connection.close()
    async with EngineClient(name="test", start=False, address=runtime) as client:
        await client.stop()
