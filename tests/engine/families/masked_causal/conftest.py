"""A toy filler with an adapter for each module, and its tokenizer."""

from pathlib import Path

import pytest
from toy_causal import save_adapter, toy_backbone, toy_filler, toy_text

from intarsia.engine.families.masked_causal.backbone import load
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller


@pytest.fixture(autouse=True)
def no_calibration(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two loads of a toy must multiply in the same way, whatever else the machine does."""
    if request.node.get_closest_marker("model") is None:
        monkeypatch.setattr(load, "fastest", lambda formats, *_: formats[0])


@pytest.fixture(scope="session")
def adapter(tmp_path_factory: pytest.TempPathFactory, toy: Path) -> Path:
    """A random adapter for ``toy``."""
    return save_adapter(tmp_path_factory.mktemp("adapter") / "a.safetensors", toy)


@pytest.fixture(scope="module")
def filler(toy: Path, adapter: Path) -> MaskedCausalFiller:
    """``toy`` with its adapter, loaded as the engine does."""
    return toy_filler(toy, adapter)


@pytest.fixture(scope="session")
def text(toy: Path) -> FimTokenizer:
    """The tokenizer of ``toy``."""
    return toy_text(toy)


@pytest.fixture(scope="session")
def backbone(toy: Path) -> CausalBackbone:
    """``toy`` without an adapter."""
    return toy_backbone(toy)
