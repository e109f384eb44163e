"""A toy backbone and packed holes, made once."""

from pathlib import Path

import pytest
from one_thread import one_thread
from toy_causal import save_toy, toy_causal_model
from toy_training import toy_holes

from intarsia_research.training.packed_holes import PackedHoles

__all__ = ["holes", "one_thread", "toy"]


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("toy"), toy_causal_model("qwen2"))


@pytest.fixture(scope="session")
def holes(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> PackedHoles:
    return toy_holes(toy, tmp_path_factory.mktemp("holes") / "holes.safetensors")
