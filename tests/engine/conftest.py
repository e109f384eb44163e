"""A new engine address for each test, where no other engine runs; tiny models run on one thread."""

from collections.abc import Iterator

import pytest
from one_thread import one_thread
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address

__all__ = ["one_thread"]


@pytest.fixture
def address() -> Iterator[Address]:
    with temporary_address() as address:
        yield address


@pytest.fixture(params=["unix", "tcp"])
def any_address(request: pytest.FixtureRequest) -> Iterator[Address]:
    """The address with each transport: as on Unix, and as on Windows."""
    with temporary_address(request.param) as address:
        yield address
