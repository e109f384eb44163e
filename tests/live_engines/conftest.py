"""Our default model as other engines load it, and remotes of one test."""

from pathlib import Path

import pytest
from exported_model import exported
from remote_settings import RemoteSettings

from intarsia.engine.model_store.catalog import DEFAULT_MODEL


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteSettings:
    """The user's settings file for this test, without any remote."""
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(folder))
    return RemoteSettings(folder / "remotes.toml")


@pytest.fixture(scope="session")
def tuned_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model with its tuning, as `intarsia export hf` writes it."""
    return exported("hf", tmp_path_factory.mktemp("tuned") / "hf", DEFAULT_MODEL)


@pytest.fixture(scope="session")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model without its tuning, as `intarsia export hf` writes it."""
    return exported("hf", tmp_path_factory.mktemp("plain") / "hf", f"{DEFAULT_MODEL}+none")
