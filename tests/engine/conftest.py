"""A new engine address for each test, where no other engine runs; tiny models on one thread."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from one_thread import one_thread
from temporary_address import temporary_address
from toy_causal import KINDS, Kind, save_toy, toy_causal_model

from intarsia.engine.ipc.address import Address

__all__ = ["one_thread"]


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Path]:
    """A small random checkpoint for each kind of causal model."""
    root = tmp_path_factory.mktemp("toys")
    return {kind: save_toy(root / kind, toy_causal_model(kind)) for kind in KINDS}


@pytest.fixture(scope="session")
def toy(toys: dict[Kind, Path]) -> Path:
    """The one used as the default model."""
    return toys["qwen2"]


@pytest.fixture
def address() -> Iterator[Address]:
    with temporary_address() as address:
        yield address


@pytest.fixture(params=["unix", "tcp"])
def any_address(request: pytest.FixtureRequest) -> Iterator[Address]:
    """The address with each transport: as on Unix, and as on Windows."""
    with temporary_address(request.param) as address:
        yield address


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(folder))
    return folder
