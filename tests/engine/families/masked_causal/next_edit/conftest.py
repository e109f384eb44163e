"""A toy backbone, with an edit adapter and without, and requests for it."""

from pathlib import Path

import pytest
from toy_causal import save_adapter, toy_backbone, toy_text

from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer


@pytest.fixture(scope="session")
def edit_adapter(tmp_path_factory: pytest.TempPathFactory, toy: Path) -> Path:
    """Return the file of a random edit adapter."""
    return save_adapter(tmp_path_factory.mktemp("edit") / "e.safetensors", toy, seed=3)


@pytest.fixture(scope="session")
def backbone(toy: Path) -> CausalBackbone:
    """Return a backbone without adapters."""
    return toy_backbone(toy)


@pytest.fixture(scope="session")
def adapted(toy: Path, edit_adapter: Path) -> CausalBackbone:
    """Return the same backbone with an edit adapter."""
    return toy_backbone(toy, edit_adapter=edit_adapter)


@pytest.fixture(scope="session")
def text(toy: Path) -> FimTokenizer:
    """Return the tokenizer of both."""
    return toy_text(toy)
