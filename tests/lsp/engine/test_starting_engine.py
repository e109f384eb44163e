"""While the engine starts, what needs no engine waits for it instead of giving up."""

import asyncio

import pytest
from lsprotocol import types
from rule_engine import rule_engine_launch
from scripted_next_edits import rule

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, NextEdits, TextPart
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.engine.connection import EngineConnection
from intarsia.lsp.server import IntarsiaServer

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
