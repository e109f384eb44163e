"""Settings of remotes for one test, and llama.cpp's real server for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_server import Respond, serving
from llama_cpp import SERVER_PYTHON, LlamaCppServer, llama_cpp_server
from msgspec.structs import replace
from remote_settings import HOLE, RemoteSettings, settings
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import Filled

__all__ = ["settings"]


@pytest.fixture(scope="session")
def llama_cpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCppServer]:
    """llama.cpp's server with the default model."""
    if not SERVER_PYTHON.exists():
        pytest.skip("llama.cpp's server is not installed: make llama-cpp")
    with llama_cpp_server(tmp_path_factory.mktemp("llama-cpp") / "server.log") as server:
        yield server


@pytest.fixture
def toy_folder(tmp_path: Path) -> Path:
    """Return a folder with the toy tokenizer."""
    toy_tokenizer().save(str(tmp_path / "tokenizer.json"))
    return tmp_path


@pytest.fixture
def ask(settings: RemoteSettings, toy_folder: Path):
    """Return a function that fills a hole on the server at an address, with these settings."""

    def ask(url, control=NO_CONTROL, hole=HOLE, **options) -> Filled:
        filler = settings.filler(url, **{"tokenizer": toy_folder, "timeout_s": 1} | options)
        return filler.fill(hole, control)

    return ask


@pytest.fixture
def fill(ask):
    """Return a function that fills a hole on a server that answers so, with these fields."""

    def fill(respond: Respond, control: FillControl = NO_CONTROL, **fields: Any) -> Filled:
        with serving(respond) as server:
            hole = replace(HOLE, **{"max_tokens": 64} | fields)
            return ask(server.url, control, hole, timeout_s=5)

    return fill
