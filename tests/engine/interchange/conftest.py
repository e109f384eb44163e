"""Small random checkpoints, one of each shape, with a cache of their own."""

from pathlib import Path

import pytest
from toy_causal import KINDS, Kind, save_toy, toy_causal_model


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Path]:
    folder = tmp_path_factory.mktemp("toys")
    return {kind: save_toy(folder / kind, toy_causal_model(kind)) for kind in KINDS}


@pytest.fixture(scope="session")
def toy(toys: dict[Kind, Path]) -> Path:
    return toys["qwen2"]
