"""An address of each test's own, where no other engine is."""

from collections.abc import Iterator

import pytest
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address


@pytest.fixture
def address() -> Iterator[Address]:
    with temporary_address() as found:
        yield found


@pytest.fixture(params=["unix", "tcp"])
def any_address(request: pytest.FixtureRequest) -> Iterator[Address]:
    """As on Unix, and as on Windows."""
    with temporary_address(request.param) as found:
        yield found
