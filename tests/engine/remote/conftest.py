"""Settings of remotes for one test, and llama.cpp's real server for all tests of this folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from http_server import Respond, serving
from llama_cpp import SERVER_PYTHON, LlamaCppServer, llama_cpp_server
from remote_settings import RemoteSettings
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.config import EngineConfig
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.remote.filler import load_remote


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteSettings:
    """The user's settings file for this test, without any remote."""
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(folder))
    return RemoteSettings(folder / "remotes.toml")


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


FillBy = Callable[..., Filled]


@pytest.fixture
def fill(settings: RemoteSettings, toy_folder: Path) -> FillBy:
    """Return a function that fills a hole on a server that answers so, with these fields."""

    def fill(respond: Respond, control: FillControl = NO_CONTROL, **fields: Any) -> Filled:
        options = {"prefix": "def f():\n", "suffix": "\n", "stop": ("\n",)} | fields
        with serving(respond) as server:
            settings.write(server.url, tokenizer=toy_folder, timeout_s=5)
            filler = load_remote(EngineConfig(), "there", lambda stage, share: None)
            return filler.fill(Fill(id=1, **options), control)

    return fill
