"""A running API of the test's own."""

from collections.abc import AsyncIterator
from functools import partial

import pytest
from api_desk import Desk, running_api

from intarsia.engine.ipc.address import Address


@pytest.fixture
def start_api(address: Address):
    return partial(running_api, address)


@pytest.fixture
async def desk(start_api) -> AsyncIterator[Desk]:
    async with start_api() as desk:
        yield desk
