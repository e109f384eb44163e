"""Fixtures of commands: an address of each test's own, and engines that fill by rules at it."""

import asyncio
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from rule_engine import rule_engine_launch
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient

StartEngine: TypeAlias = Callable[..., None]


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    with temporary_address() as found:
        for name, value in found.as_environment().items():
            monkeypatch.setenv(name, value)
        yield found


@pytest.fixture
def start_engine(address: Address) -> StartEngine:
    """Start an engine; the options are those of ``rule_engine_launch``."""

    def start(**options: object) -> None:
        asyncio.run(_start(address, options))

    return start


async def _start(address: Address, options: dict[str, object]) -> None:
    launch = rule_engine_launch(**options)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.status()
