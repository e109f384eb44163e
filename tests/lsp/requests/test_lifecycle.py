"""From initialize to exit, as LSP orders it, and what is asked for beyond LSP."""

import asyncio
import json
import socket
import sys
from concurrent.futures import Future
from contextlib import suppress
from importlib.metadata import version

import pytest
from editor_clients import ask_inline, connected, editing, initialize, neovim, open_document, vscode
from engine_watch import engine_once, until
from extended_client import asking_for, told_page
from local_server import free_port
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient
from pytest_lsp.client import make_test_lsp_client
from rule_server import rule_server, rule_server_command

from intarsia.engine.ipc.address import Address
from intarsia.lsp.protocol_extensions import (
    Extensions,
    experimental_capabilities,
    requested_extensions,
)

METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS, NOT_INITIALIZED = -32601, -32600, -32602, -32002


async def request(client: LanguageClient, method: str, params: object = None) -> object:
    """Send a request as it is, right or wrong, and return the answer."""
    answer: Future[object] = Future()
    client.protocol._request_futures["raw"] = answer
    client.protocol._send_data({"jsonrpc": "2.0", "id": "raw", "method": method, "params": params})
    async with asyncio.timeout(20):
        return await asyncio.wrap_future(answer)


async def is_listening(port: int) -> bool:
    """Whether the port is taken: no other process may listen there."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
        return False


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_initialize_says_who_and_what(runtime, who):
    async with connected(runtime, rule_server()) as client:
        result = await initialize(client, asking_for(who(), drafts=True, confidence=True))
    told = {"drafts": True, "status": False, "confidence": True, "nextEdits": False}
    assert result.capabilities.experimental == {"intarsia": told | {"members": False}}
    assert result.server_info == types.ServerInfo("intarsia", version("intarsia"))
    offered = result.capabilities
    assert offered.position_encoding == ("utf-16" if who is vscode else "utf-8")
    assert offered.inline_completion_provider == types.InlineCompletionOptions()
    # Only clients without ghost text get items in their menu.
    assert offered.completion_provider == (None if who is vscode else types.CompletionOptions())
    sync, notebooks = offered.text_document_sync, offered.notebook_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert (sync.open_close, sync.change) == (True, types.TextDocumentSyncKind.Incremental)
    if who is vscode:
        assert isinstance(notebooks, types.NotebookDocumentSyncOptions)
        assert [selector.notebook for selector in notebooks.notebook_selector] == ["*"]
    assert offered.code_action_provider == types.CodeActionOptions(
        code_action_kinds=(
            *(f"refactor.rewrite.intarsia.{kind}" for kind in ("fill", "fillAll", "rewrite")),
            *(f"quickfix.intarsia.{kind}" for kind in ("repair", "nextEdit")),
        ),
        resolve_provider=True,
    )
    names = ("edit", "context", "addImports", "nextEdit", "renameInFiles")
    assert offered.execute_command_provider == types.ExecuteCommandOptions(
        commands=tuple(f"intarsia.{name}" for name in names), work_done_progress=True
    )


@pytest.mark.parametrize(
    ("offered", "agreed"), [(None, "utf-16"), (["utf-32"], "utf-32"), (["utf-7"], "utf-16")]
)
async def test_the_position_encoding_is_negotiated(runtime, offered, agreed):
    general = types.GeneralClientCapabilities(position_encodings=offered)
    capabilities = types.ClientCapabilities(general=general)
    async with connected(runtime, rule_server()) as client:
        result = await initialize(client, types.InitializeParams(capabilities=capabilities))
        assert result.capabilities.position_encoding == agreed


async def test_the_engine_is_started_once_initialized_and_lives_on_after_its_editor(runtime):
    command = rule_server_command(text="x")
    async with editing(vscode(), runtime, server=command, options={"preload": False}):
        pass
    assert not runtime.pid_path.exists()
    async with editing(vscode(), runtime, server=command):
        await engine_once(runtime, lambda status: status.state == "ready")
    await engine_once(runtime, lambda status: status.num_clients == 1)  # that is the watcher


async def test_a_wrong_request_is_answered_and_the_next_one_works(runtime: Address) -> None:
    inline = types.TEXT_DOCUMENT_INLINE_COMPLETION
    async with connected(runtime, rule_server_command(text="x + 1")) as client:

        async def code(method: str, params: object = None) -> int:
            with pytest.raises(JsonRpcException) as raised:
                await request(client, method, params)
            return raised.value.code

        assert await code(inline, ask_inline("file:///a", 0, 0)) == NOT_INITIALIZED
        await client.initialize_session(vscode())
        assert await code(types.INITIALIZE, {"capabilities": {}}) == INVALID_REQUEST
        assert await code("intarsia/no/such/method", {}) == METHOD_NOT_FOUND
        assert await code(inline, {"position": "here"}) == INVALID_PARAMS
        uri = open_document(client, "a.py", "y = ")
        assert await client.text_document_inline_completion_async(ask_inline(uri, 0, 4))
        assert await request(client, types.SHUTDOWN) is None
        assert await code("intarsia/no/such/method") == INVALID_REQUEST
        client.exit(None)
        assert await client._server.wait() == 0


async def test_exit_without_shutdown_ends_with_1(runtime: Address) -> None:
    async with connected(runtime) as client:
        await initialize(client, neovim())
        client.exit(None)
        assert await client._server.wait() == 1


async def test_a_client_can_connect_over_tcp(runtime: Address) -> None:
    script = "import sys; from intarsia.lsp.method_table import serve_tcp; "
    script += "sys.exit(serve_tcp('127.0.0.1', int(sys.argv[1])))"
    port = free_port()
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(port))
    client = make_test_lsp_client()
    try:
        await until(lambda: is_listening(port))
        await client.start_tcp("127.0.0.1", port)
        who = vscode()
        who.initialization_options = {"enabled": False}
        result = await client.initialize_session(who)
        assert result.server_info is not None
        await client.shutdown_session()
        assert await asyncio.wait_for(server.wait(), 20) == 0
    finally:
        if server.returncode is None:
            server.kill()
        if (writer := client.protocol.writer) is not None:  # pygls leaves it open
            writer.close()
        with suppress(ConnectionResetError):  # the server may have ended before the socket closed
            await client.stop()


def test_what_is_asked_for_is_read_and_answered() -> None:
    asked = requested_extensions(
        {"intarsia": {"drafts": True, "members": True, "more": 1}, "other": 2}
    )
    assert asked == Extensions(drafts=True, members=True)
    others = {"status": False, "confidence": False, "nextEdits": False}
    answer = {"intarsia": {"drafts": True, "members": True, **others}}
    assert experimental_capabilities(asked) == answer


@pytest.mark.parametrize(
    "experimental",
    [
        None,
        3,
        "intarsia",
        [],
        {},
        {"intarsia": None},
        {"intarsia": True},
        {"intarsia": ["drafts"]},
        {"intarsia": {}},
        {"intarsia": {"drafts": 1}},
        {"intarsia": {"drafts": True, "status": "yes"}},
    ],
)
def test_what_is_malformed_or_empty_asks_for_nothing(experimental: object) -> None:
    assert requested_extensions(experimental) == Extensions()
    assert experimental_capabilities(Extensions()) is None


async def test_a_client_that_did_not_ask_is_sent_nothing_of_it(runtime: Address) -> None:
    model = {"text": "a + b", "rules": [("no =", "")], "step_seconds": 0.06, "load_seconds": 0.2}
    async with told_page(runtime, "y = ", **model) as (user, messages):
        assert await user.shown(0, 4)
        assert await user.shown(0, 4)  # known
        assert await user.shown(0, 4, is_invoked=True)
        user.change("no = ")
        assert not await user.shown(0, 5)
        await engine_once(runtime, lambda status: status.state == "ready")
    methods = {message["method"] for message in messages if "method" in message}
    assert "$/progress" in methods  # it was told in LSP's own words
    assert not [method for method in methods if method.startswith("intarsia")]
    results = [json.dumps(message["result"]) for message in messages if "result" in message]
    assert any("insertText" in result for result in results)
    assert not [result for result in results if '"intarsia":' in result]
