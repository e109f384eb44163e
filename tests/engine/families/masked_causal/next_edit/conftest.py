"""A toy backbone and its tokenizer."""

from pathlib import Path

import pytest
from toy_causal import toy_backbone, toy_text

from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer


@pytest.fixture(scope="session")
def backbone(toy: Path) -> CausalBackbone:
    """Return a backbone without an adapter."""
    return toy_backbone(toy)


@pytest.fixture(scope="session")
def text(toy: Path) -> FimTokenizer:
    """Return its tokenizer."""
    return toy_text(toy)
