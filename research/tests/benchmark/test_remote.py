"""What our side adds to a remote server, and what is reread there while one types."""

import json
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from http_server import Respond, serving
from in_process_engine import in_process_engine
from llama_cpp_double import event, last_event, llama_cpp_answers, send, writing
from remote_settings import RemoteSettings
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.remote.load import load_remote
from intarsia.engine.remote.settings.model_name import remote_name
from intarsia.engine.remote.settings.remotes import parse_remotes
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.remote import measure_added, measure_remote
from intarsia_research.errors import EvaluationFault
from intarsia_research.peers.llama_vim import llama_vim_request

RECORDED = Path(__file__).parents[3] / "tests" / "data" / "api_requests" / "llama_vim.json"


def complete(request: dict[str, Any], connection: socket.socket) -> None:
    """Continue a half-typed word with nothing, and read 5 tokens for it."""
    found = re.match(r'root ::= "(.*)" \[', request.get("grammar", ""))
    typed = "x" if found is None else found[1].encode().decode("unicode_escape")
    ids = toy_tokenizer().encode(typed, add_special_tokens=False).ids
    writing(event(ids), last_event(num_read=5))(request, connection)


def llama_cpp() -> Respond:
    """A server that reads 5 tokens for us, and 40 for llama.vim."""
    ours = llama_cpp_answers(complete, slot_tokens=8_192)

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/infill":
            send(connection, {"content": "x", "timings": {"prompt_n": 40}})
        else:
            ours(path, body, connection)

    return respond


def load(config: EngineConfig, model: str, on_progress: Progress) -> Filler:
    return load_remote(config, remote_name(model) or "", on_progress)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteSettings:
    toy_tokenizer().save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(tmp_path))
    return RemoteSettings(tmp_path / "remotes.toml")


@pytest.fixture
async def bench(address: Address) -> AsyncIterator[Bench]:
    model = "remote:there"
    async with (
        in_process_engine(address, load, model=model),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        options = FillOptions(model=model)
        yield Bench(client=client, address=address, options=options, repeats=1)


async def test_tokens_are_compared_and_times_are_beyond_the_servers(
    bench: Bench, settings: RemoteSettings, tmp_path: Path
) -> None:
    with serving(llama_cpp()) as server:
        settings.write(server.url, tokenizer=tmp_path / "tokenizer.json")
        figures = {it.name: it.value for it in await measure_remote(bench)}
        assert server.paths().count("/infill") > 3
    assert figures["remote_read_tokens"] == 5
    assert figures["remote_read_llama_vim_tokens"] == 40
    assert figures["remote_read_ratio"] == 0.125
    assert 0 < figures["remote_added_p50_ms"] <= figures["remote_added_p95_ms"]


async def test_a_server_behind_tls_is_not_timed(
    bench: Bench, settings: RemoteSettings, tmp_path: Path
) -> None:
    remote = parse_remotes('[there]\nurl = "https://fill.example.com"', tmp_path)["there"]
    with pytest.raises(EvaluationFault, match="must be http on this machine"):
        await measure_added(bench, remote, [])


async def test_a_model_of_this_machine_has_no_such_figures(bench: Bench) -> None:
    own = Bench(client=bench.client, address=bench.address, options=FillOptions(), repeats=1)
    assert await measure_remote(own) == []


def test_the_request_is_llama_vims_own() -> None:
    recorded = json.loads(RECORDED.read_text())["requests"][0]["body"]
    before, after = recorded["input_prefix"] + recorded["prompt"], recorded["input_suffix"]
    asked = llama_vim_request(before, after.removesuffix("\n"))
    not_asked = {"response_fields", "model"}
    assert asked == {key: value for key, value in recorded.items() if key not in not_asked}
