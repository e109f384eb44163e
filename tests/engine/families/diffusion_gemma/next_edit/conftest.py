"""A trained checkpoint in which a name depends on its definition, and requests for it."""

from pathlib import Path

import pytest
import torch
from naming_diffusion_gemma import save_naming_checkpoint
from tiny_diffusion_gemma import save_tiny_checkpoint

from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.load import load_diffusion_gemma


@pytest.fixture(scope="module")  # after `one_thread`
def naming(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the trained checkpoint."""
    return save_naming_checkpoint(tmp_path_factory.mktemp("naming"))


@pytest.fixture(scope="module")  # after `one_thread`
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a checkpoint with random weights, and a tokenizer for any text."""
    return save_tiny_checkpoint(tmp_path_factory.mktemp("tiny-diffusion-gemma"))


@pytest.fixture
def trained(naming: Path) -> DiffusionGemmaFiller:
    """Return the trained checkpoint, newly loaded."""
    return load_diffusion_gemma(naming, device="cpu", dtype=torch.float32, name="naming")


@pytest.fixture
def filler(random_folder: Path) -> DiffusionGemmaFiller:
    """Return the random checkpoint, newly loaded."""
    return load_diffusion_gemma(random_folder, device="cpu", dtype=torch.float32, name="tiny")
