"""A remote engine hangs in its answer, and the next request is answered again."""

import threading
from pathlib import Path
from typing import Any

import pytest
from editor_clients import SERVER
from engine_watch import until
from faults.editor import editor_on
from faults.ground import PATIENCE_S, Ground
from faults.toy_engine import serve
from http_server import FaultyServer, begin_events, serving, silence
from llama_cpp_double import event, last_event, llama_cpp_answers, send_events
from remote_settings import RemoteSettings
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.ipc.launch import stop_engine

COMMAND = Path(__file__).parents[1] / "support" / "faults" / "fault_command.py"


class Server:
    """A server that writes one word, and may hang before it or after it."""

    def __init__(self) -> None:
        self.hangs: str | None = None

    def complete(self, request: dict[str, Any], connection: Any) -> None:
        events = [event(toy_tokenizer().encode(" value").ids), last_event()]
        if self.hangs == "before":
            silence(connection)
        if self.hangs == "after" and request["stream"]:
            begin_events(connection)
            connection.sendall(events[0])
            silence(connection)
        send_events(request, connection, events)


def remote_settings(ground: Ground, running: FaultyServer) -> dict[str, str]:
    """Name the server in the user's settings; return the variables that point there."""
    folder = ground.folder / "config"
    folder.mkdir(mode=0o700)
    tokenizer = ground.folder / "tokenizer.json"
    toy_tokenizer().save(str(tokenizer))
    RemoteSettings(folder / "remotes.toml").write(running.url, tokenizer=tokenizer)
    return {"INTARSIA_CONFIG_DIR": str(folder)}


@pytest.mark.parametrize("where", ["before", "after"])
async def test_a_remote_engine_hangs_in_its_answer(ground: Ground, where: str) -> None:
    """The request is answered by the deadline, and the next one by the server again."""
    server, num_threads = Server(), threading.active_count()
    with serving(llama_cpp_answers(server.complete)) as running:
        environment = remote_settings(ground, running)
        options = {"deadlineMs": 2_000, "model": "remote:there"}
        async with editor_on(ground, SERVER, options=options, environment=environment) as editor:
            await serve(editor)
            server.hangs = where
            await editor.fill("y = ")
            server.hangs = None
            await serve(editor)
        await stop_engine(ground.address, name="test")
    await until(lambda: threading.active_count() <= num_threads, PATIENCE_S)
