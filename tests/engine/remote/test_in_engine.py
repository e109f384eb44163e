"""A remote engine beside the model of this machine, inside the engine's service."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from http_server import Respond, begin_events, serving
from in_process_engine import in_process_engine
from llama_cpp_double import event, last_event, llama_cpp_answers, send
from remote_settings import RemoteSettings
from rule_engine import RuleFiller
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import Fill, FindNextEdits, Step
from intarsia.engine.remote.fill import link
from intarsia.engine.remote.filler import load_remote
from intarsia.engine.remote.http.remotes import remote_name

REMOTE = "remote:there"


def hole(model: str | None = None, **fields: Any) -> Fill:
    return Fill(id=0, prefix="def f():\n", suffix="\n", stop=("\n",), model=model, **fields)


class Loads:
    """Loads remotes as the product does, and a model of rules as the model of this machine."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, config: EngineConfig, model: str, on_progress: Progress) -> Filler:
        self.names.append(model)
        name = remote_name(model)
        if name is not None:
            return load_remote(config, name, on_progress)
        return RuleFiller(lambda _: "from here", name=model)


class Server:
    """A server that writes one word, or is busy."""

    def __init__(self) -> None:
        self.url = ""
        self.is_busy = False
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.may_end = threading.Event()  # the answer to a long request
        self.may_end.set()

    def respond(self) -> Respond:
        answers = llama_cpp_answers(self._complete)

        def respond(path: str, body: bytes, connection: socket.socket) -> None:
            self.paths.append(path)
            answers(path, body, connection)

        return respond

    def _complete(self, request: dict[str, Any], connection: socket.socket) -> None:
        self.bodies.append(request)
        if self.is_busy:
            send(connection, {"error": {"message": "full"}}, status=503)
        else:
            begin_events(connection)
            connection.sendall(event(toy_tokenizer().encode("val").ids))
            if request["n_predict"] > 100:
                self.may_end.wait(30)
            connection.sendall(last_event())


@pytest.fixture
def server(settings: RemoteSettings, toy_folder: Path) -> Iterator[Server]:
    server = Server()
    with serving(server.respond()) as running:
        server.url = running.url
        settings.write(server.url, tokenizer=toy_folder)
        yield server


@pytest.fixture
def loads() -> Loads:
    return Loads()


@pytest.fixture
async def client(address: Address, loads: Loads) -> AsyncIterator[EngineClient]:
    async with (
        in_process_engine(address, loads, model="rules"),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        yield client


async def test_it_takes_no_ones_model_away(client, server, loads):
    """Code goes to a server only where the request names it."""
    texts = [(await client.fill(hole(model))).text for model in (None, REMOTE, None, REMOTE)]
    assert texts == ["from here", "val", "from here", "val"]
    assert loads.names == ["rules", REMOTE]
    assert len(server.bodies) == 2


async def test_the_answer_and_the_status_say_where_code_goes(client, server):
    filled = await client.fill(hole(REMOTE))
    assert filled.model.startswith("remote:there at 127.0.0.1:")
    status = await client.status()
    assert status.model == filled.model
    assert (status.family, status.dtype) == ("llama.cpp", "F16")
    assert "lost: next edits, and rewriting of present text" in status.notes


async def test_a_short_fill_runs_while_a_long_one_is_written(client, server):
    server.may_end.clear()
    steps: asyncio.Queue[Step] = asyncio.Queue()
    request = hole(REMOTE, max_tokens=200, is_background=True, watch=True)
    long = asyncio.create_task(client.fill(request, steps.put_nowait))
    async with asyncio.timeout(30):
        await steps.get()
        assert (await client.fill(hole(REMOTE))).text == "val"
        assert not long.done()
        server.may_end.set()
        assert (await long).text == "val"


async def test_a_fault_is_the_clients_answer(client: EngineClient, server: Server) -> None:
    await client.fill(hole(REMOTE))
    server.is_busy = True
    with pytest.raises(FillFailed, match="is busy \\(status 503, full\\)") as caught:
        await client.fill(hole(REMOTE))
    assert caught.value.code == "busy"
    assert (await client.fill(hole())).text == "from here"


async def test_a_busy_server_is_not_asked_again_what_it_is(client, server, monkeypatch):
    """Where its contexts end is remembered, so that it need not read all again."""
    monkeypatch.setattr(link, "PAUSE_S", 0.0)
    first = await client.fill(hole(REMOTE))
    server.is_busy = True
    with pytest.raises(FillFailed):
        await client.fill(hole(REMOTE))
    server.is_busy = False
    num_asked = len(server.paths)
    assert (await client.fill(hole(REMOTE))).text == first.text
    assert server.paths[num_asked:] == ["/completion"]


async def test_the_local_model_answers_where_the_user_wants_it(client, server, settings):
    settings.write(
        server.url, tokenizer=settings.path.parent.parent / "tokenizer.json", fallback=True
    )
    assert (await client.fill(hole(REMOTE))).text == "val"
    server.is_busy = True
    filled = await client.fill(hole(REMOTE))
    assert (filled.text, filled.model) == ("from here", "rules")


async def test_the_local_model_answers_where_the_server_was_never_up(client, settings):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    settings.write(f"http://127.0.0.1:{port}", fallback=True)
    assert (await client.fill(hole(REMOTE))).text == "from here"
    settings.write(f"http://127.0.0.1:{port}")
    with pytest.raises(FillFailed, match="cannot be reached") as caught:
        await client.fill(hole(REMOTE))
    assert caught.value.code == "unavailable"


async def test_what_it_cannot_do_is_a_reason(client: EngineClient, server: Server) -> None:
    with pytest.raises(FillFailed, match="cannot rewrite a draft") as caught:
        await client.fill(hole(REMOTE, draft="x", noise=0.5))
    assert caught.value.code == "bad_request"
    await client.fill(hole(REMOTE))
    find = FindNextEdits(id=0, parts=(), example=None, model=REMOTE)
    with pytest.raises(FillFailed, match="finds no next edits"):
        await client.find_next_edits(find)


async def test_a_workspace_cannot_name_a_host(client: EngineClient, server: Server) -> None:
    with pytest.raises(FillFailed, match="no remote 'https:") as caught:
        await client.fill(hole("remote:https://example.com"))
    assert caught.value.code == "model"
    assert server.bodies == []
