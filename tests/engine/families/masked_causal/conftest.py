"""Toy checkpoints, made once for all tests of this folder."""

from pathlib import Path

import pytest
from toy_causal import KINDS, save_adapter, save_toy, toy_causal_model

from intarsia.engine.families.masked_causal.backbone import choose_format


@pytest.fixture(autouse=True)
def no_calibration(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two loads of a toy must multiply in the same way, whatever else the machine does."""
    if request.node.get_closest_marker("model") is None:
        monkeypatch.setattr(choose_format, "fastest", lambda formats, *_: formats[0])


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind of backbone."""
    root = tmp_path_factory.mktemp("toys")
    return {kind: save_toy(root / kind, toy_causal_model(kind)) for kind in KINDS}


@pytest.fixture(scope="session")
def toy(toys: dict[str, Path]) -> Path:
    """The folder used as the default model."""
    return toys["qwen2"]


@pytest.fixture(scope="session")
def adapter(tmp_path_factory: pytest.TempPathFactory, toy: Path) -> Path:
    """A random adapter for ``toy``."""
    return save_adapter(tmp_path_factory.mktemp("adapter") / "a.safetensors", toy)
