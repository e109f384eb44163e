"""Our default model as other engines load it, and remotes of one test."""

from pathlib import Path

import pytest
from exported_model import exported
from remote_settings import settings

from intarsia.engine.model_store.catalog import DEFAULT_MODEL

__all__ = ["settings"]


@pytest.fixture(scope="session")
def tuned_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model with its tuning, as `intarsia export hf` writes it."""
    return exported("hf", tmp_path_factory.mktemp("tuned") / "hf", DEFAULT_MODEL)


@pytest.fixture(scope="session")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model without its tuning, as `intarsia export hf` writes it."""
    return exported("hf", tmp_path_factory.mktemp("plain") / "hf", f"{DEFAULT_MODEL}+none")
