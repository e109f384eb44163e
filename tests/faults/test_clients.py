"""An editor goes away, stops reading, or sends what is odd: no other editor notices anything."""

import asyncio
import json
import os
import subprocess
import sys

import psutil
import pytest
from editor_clients import SERVER as PRODUCT
from editor_clients import ask_inline
from engine_watch import until
from faults.editor import BY_DIGEST, Editor, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground
from faults.wire import frame, initialize_frames, opened_frame, request_frame
from lsprotocol import types

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")

SLOW = {"text": "one + two", "rules": [BY_DIGEST], "step_seconds": 1}
SERVER = fault_server_command(rules=[BY_DIGEST], text="42")
PATIENT = {"deadlineMs": 60_000}


async def start_server(ground: Ground, command: tuple[str, ...]) -> asyncio.subprocess.Process:
    """Start a server whose other end is this test."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **ground.environment()},
    )


SHUTDOWN = frame({"id": 98, "method": "shutdown"}) + frame({"method": "exit"})
MORE = b"".join(request_frame(number, line=0, character=4) for number in range(3, 12))
UNKNOWN = b"".join(frame({"id": number, "method": "x/y"}) for number in range(3, 999))


@pytest.mark.parametrize(
    ("last_words", "keeps_input", "keeps_output", "codes"),
    [
        (SHUTDOWN, True, True, {0}),
        (SHUTDOWN, False, False, {0, 1}),  # the end of the output may be seen first
        (b"", True, False, {1}),
        (b"", False, True, {1}),
        (b"", False, False, {1}),  # as the system does for a killed process
        (MORE, True, False, {1}),
        (MORE, False, False, {1}),
        (UNKNOWN, False, True, {1}),  # its answers are more than a pipe holds
        (UNKNOWN + SHUTDOWN, True, True, {0}),
    ],
)
async def test_the_editor_goes_in_the_middle_of_a_fill_and_reads_nothing(
    ground, last_words, keeps_input, keeps_output, codes
):
    """However it goes, the server ends by itself, and what it cannot tell goes nowhere."""
    pipe = subprocess.PIPE
    environment = {**os.environ, **ground.environment()}
    command = fault_server_command(**SLOW)
    with subprocess.Popen(command, 0, None, pipe, pipe, pipe, env=environment) as server:  # noqa: ASYNC220
        assert server.stdin and server.stdout and server.stderr
        server.stdin.write(initialize_frames(ground) + opened_frame("x = "))
        server.stdin.write(request_frame(2, line=0, character=4))
        engine = await ground.engine("filling")
        server.stdin.write(last_words)
        if not keeps_output:
            server.stdout.close()
        if not keeps_input:
            server.stdin.close()
        assert await asyncio.to_thread(server.wait, PATIENCE_S) in codes
        assert server.stderr.read() == b""
    assert (await ground.engine("ready")).pid == engine.pid  # the fill was cancelled


async def test_the_server_is_killed_in_the_middle_of_a_fill(ground: Ground) -> None:
    async with editor_on(ground, fault_server_command(**SLOW), options=PATIENT) as editor:
        asking = asyncio.create_task(editor.fill("x = "))
        engine = await ground.engine("filling")
        editor.client._server.kill()
        await editor.client._server.wait()
        asking.cancel()
        assert (await ground.engine("ready")).pid == engine.pid
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        assert await editor.is_in_step()


async def test_the_input_is_closed_without_a_shutdown(ground: Ground) -> None:
    """The server ends, with LSP's code for this, and the index's processes with it."""
    (ground.project / "a.py").write_text("a = 1\n")
    server = await start_server(ground, PRODUCT)
    server.stdin.write(initialize_frames(ground, preload=False))
    await until(lambda: bool(ground.processes("intarsia.workspace")), PATIENCE_S)
    server.stdin.close()
    assert await asyncio.wait_for(server.wait(), PATIENCE_S) == 1
    await server.communicate()


async def test_what_was_counted_is_kept_when_the_input_is_closed(ground: Ground) -> None:
    """The session is closed in good order; nothing of it is cancelled in the middle."""
    server = await start_server(ground, SERVER)
    assert server.stdout is not None
    server.stdin.write(initialize_frames(ground) + opened_frame("x = "))
    server.stdin.write(request_frame(2, line=0, character=4))
    async with asyncio.timeout(PATIENCE_S):
        await server.stdout.readuntil(b'"insertText"')
    server.stdin.close()
    await asyncio.wait_for(server.communicate(), PATIENCE_S)
    kept = json.loads((ground.folder / "data" / "statistics.json").read_text())
    assert kept["counts"]


async def test_an_editor_never_reads(ground: Ground) -> None:
    """The engine and other editors do not notice, and its server ends with it."""
    mute = await start_server(ground, SERVER)
    mute.stdin.write(initialize_frames(ground) + opened_frame("x = "))
    for id in range(2, 3_000):
        mute.stdin.write(frame({"id": id, "method": "intarsia/nothing", "params": {}}))
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        assert await editor.is_in_step()
    assert psutil.Process(mute.pid).memory_info().rss < 500e6
    mute.stdin.close()
    await mute.communicate()
    assert mute.returncode == 1


def send_change(editor: Editor, text: str, version: int) -> None:
    """Send an insertion at the start of the document with this version."""
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(uri=editor.uri, version=version),
            [types.TextDocumentContentChangePartial(start, text)],
        )
    )


async def test_a_document_is_asked_about_after_it_was_closed(ground: Ground) -> None:
    async with editor_on(ground, SERVER) as editor:
        identifier = types.TextDocumentIdentifier(editor.uri)
        for _ in range(2):
            editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
        send_change(editor, "x", 9)
        assert await editor.ask() is None
        await editor.told("not open")
        editor.open("again = 1")
        assert await editor.is_in_step()


async def test_two_requests_have_one_id(ground: Ground) -> None:
    """Both are answered: an editor that waits for one is not left waiting."""
    async with editor_on(ground, SERVER) as editor:
        editor.write("x = ")
        end = editor.end()
        params = ask_inline(editor.uri, end.line, end.character)
        method = types.TEXT_DOCUMENT_INLINE_COMPLETION
        send = editor.client.protocol.send_request_async
        first = asyncio.ensure_future(send(method, params, msg_id="same"))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(send(method, params, msg_id="same"))
        await asyncio.wait([first, second], return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        second.cancel()
        assert await editor.is_in_step()
