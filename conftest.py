"""Engines of the tests, never the user's own; the seed of drawn examples; groups of tests."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.ownership import data_folder

# The same examples in every run, however slow: neither chance nor other work fails a build.
# Others: --hypothesis-profile=other_examples.
settings.register_profile(
    "other_examples", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("same_examples", settings.get_profile("other_examples"), derandomize=True)
settings.load_profile("same_examples")


def pytest_configure() -> None:
    """Leave the other processors to the other workers."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        import torch

        torch.set_num_threads(1)


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file's tests together, for its fixtures' sake; so all that share the real engine, or
    stop and starve processes."""
    for item in items:
        folder = Path(item.path).parent.name
        shared = "model" if item.get_closest_marker("model") else folder
        name = shared if shared in ("model", "faults") else str(item.path)
        item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture(scope="session", autouse=True)
def data_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep servers and commands from the user's own data, such as the statistics.

    The key of the seals is the user's: with another one, the model would be converted again.
    """
    folder, key = tmp_path_factory.mktemp("data"), data_folder() / "seal.key"
    if key.exists():
        shutil.copy2(key, folder)
    os.environ["INTARSIA_DATA_DIR"] = str(folder)


@pytest.fixture
def runtime() -> Iterator[Address]:
    """A new address for this test, where no engine runs yet."""
    with temporary_address() as address:
        yield address


@pytest.fixture(scope="session")
def real_engine_runtime() -> Iterator[Address]:
    """The address of the one real engine of this run, with the default model loaded."""
    with temporary_address() as address:
        asyncio.run(_load_default_model(address))
        yield address


async def _load_default_model(address: Address) -> None:
    async with EngineClient(name="test", address=address) as client:
        await client.preload()
