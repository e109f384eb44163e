"""Settings of remotes for one test, and llama.cpp's real server for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_cpp import SERVER_PYTHON, LlamaCppServer, llama_cpp_server
from remote_settings import RemoteSettings


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
