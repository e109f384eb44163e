"""Engines of the tests' own: never the user's, and gone at the end."""

from collections.abc import Iterator

import pytest
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address


@pytest.fixture
def runtime() -> Iterator[Address]:
    """An address of this test's own, where no engine runs yet."""
    with temporary_address() as address:
        yield address


@pytest.fixture(scope="session")
def real_engine_runtime() -> Iterator[Address]:
    """The address of the one real engine of this run: its first client starts it."""
    with temporary_address() as address:
        yield address
