"""Engines of the tests, never the user's own; the seed of drawn examples; groups of tests."""

import asyncio
import gc
import os
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from certificate import make_certificate
from hypothesis import HealthCheck, settings
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.ownership import data_folder

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

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


def pytest_collection_finish() -> None:
    """Leave what was collected out of the garbage collector's walks."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadScopeScheduling":
    """Give each group of tests to one worker."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group_of(config.rootpath / nodeid.partition("::")[0])

    return ByGroup(config, log)


@cache
def _group_of(file: Path) -> str:
    """Return a file's group: those that share the real engine; those that stop and starve
    processes; the file itself, for its fixtures' sake."""
    if file.parent.name == "faults":
        return "faults"
    return "model" if "pytest.mark.model" in file.read_text() else str(file)


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


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1, and its key."""
    return make_certificate(tmp_path_factory.mktemp("tls"))
