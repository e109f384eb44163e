"""An address of each test's own, so that no test meets another one's engine."""

from collections.abc import Iterator

import pytest
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    with temporary_address() as found:
        for name, value in found.as_environment().items():
            monkeypatch.setenv(name, value)
        yield found
