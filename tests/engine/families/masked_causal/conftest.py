"""A toy filler with a drafter for each module, and its tokenizer."""

from pathlib import Path

import pytest
from toy_causal import save_drafter, toy_backbone, toy_filler, toy_text

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller


@pytest.fixture(scope="session")
def drafter(tmp_path_factory: pytest.TempPathFactory, toy: Path) -> Path:
    """A random drafter for ``toy``."""
    return save_drafter(tmp_path_factory.mktemp("drafter") / "d.safetensors", toy)


@pytest.fixture(scope="module")
def filler(toy: Path, drafter: Path) -> MaskedCausalFiller:
    """``toy`` with its drafter, loaded as the engine does."""
    return toy_filler(toy, drafter)


@pytest.fixture(scope="session")
def text(toy: Path) -> FimTokenizer:
    """The tokenizer of ``toy``."""
    return toy_text(toy)


@pytest.fixture(scope="session")
def backbone(toy: Path) -> CausalBackbone:
    """``toy`` without a drafter."""
    return toy_backbone(toy)
