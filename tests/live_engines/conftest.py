"""Our default model as other engines load it, and remotes of one test."""

from pathlib import Path

import pytest
from command_line import run
from remote_settings import settings

from intarsia.cli.errors import ExitCode
from intarsia.engine.model_store.catalog import DEFAULT_MODEL

__all__ = ["settings"]


def exported(kind: str, folder: Path, model: str) -> Path:
    """Return what `intarsia export KIND` wrote of a model."""
    result = run("export", kind, folder / kind, "--model", model)
    assert result.exit_code == ExitCode.OK, result.stderr
    return folder / kind


@pytest.fixture(scope="session")
def tuned_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("hf", tmp_path_factory.mktemp("tuned"), DEFAULT_MODEL)


@pytest.fixture(scope="session")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("hf", tmp_path_factory.mktemp("plain"), f"{DEFAULT_MODEL}+none")


@pytest.fixture(scope="session")
def tuned_lora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("peft", tmp_path_factory.mktemp("lora"), DEFAULT_MODEL)
