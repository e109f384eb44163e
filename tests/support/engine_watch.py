"""Look at a running engine from outside: wait until it is in some state."""

import asyncio
from collections.abc import Awaitable, Callable

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.engine.ipc.messages import Status


async def until(holds: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    """Return once it is so; fail when it does not become so."""
    async with asyncio.timeout(seconds):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.01)


async def engine_once(address: Address, holds: Callable[[Status], bool]) -> Status:
    """Return the engine's status once it is so."""
    seen: list[Status] = []

    async def is_so() -> bool:
        status = await status_of(address)
        if status is not None and holds(status):
            seen.append(status)
        return bool(seen)

    await until(is_so)
    return seen[0]


async def status_of(address: Address) -> Status | None:
    """Return the engine's status, None when none runs."""
    async with EngineClient(name="test", start=False, address=address) as client:
        try:
            return await client.status()
        except NoEngine:
            return None
