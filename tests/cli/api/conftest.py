"""A running API of the test's own."""

import contextlib
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest
from api_desk import Desk, running_api

from intarsia.engine.ipc.address import Address

StartApi = Callable[..., contextlib.AbstractAsyncContextManager[Desk]]


@pytest.fixture
def start_api(address: Address) -> StartApi:
    return partial(running_api, address)


@pytest.fixture
async def desk(start_api: StartApi) -> AsyncIterator[Desk]:
    async with start_api() as desk:
        yield desk
