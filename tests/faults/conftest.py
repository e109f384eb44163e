"""The ground of each fault: it checks what is left when the test has ended."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from faults.ground import Ground, fault_ground
from faults.toy_engine import save_models


@pytest.fixture
def bare_ground(tmp_path: Path) -> Iterator[Ground]:
    """A ground for tests that end its processes themselves."""
    with fault_ground(tmp_path) as ground:
        yield ground


@pytest.fixture
async def ground(bare_ground: Ground) -> AsyncIterator[Ground]:
    """A ground on which nothing may run any more once the test has ended its editors."""
    yield bare_ground
    await bare_ground.end()


@pytest.fixture(scope="session")
def toy_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of small models, made before any ground counts its threads."""
    return save_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def model(ground: Ground, toy_models: Path) -> Path:
    """A model's folder that the test may change."""
    return shutil.copytree(toy_models / "one", ground.folder / "model")
