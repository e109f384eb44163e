"""The ground of each fault: it checks what is left when the test has ended."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from faults.ground import Ground, fault_ground


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
