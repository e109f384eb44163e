"""Wait until a running engine is in some state, as its status shows it."""

import asyncio
from collections.abc import Awaitable, Callable

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.engine.ipc.messages import Status


async def until(condition: Callable[[], bool | Awaitable[bool]], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while True:
            holds = condition()
            if holds if isinstance(holds, bool) else await holds:
                return
            await asyncio.sleep(0.01)


async def engine_once(address: Address, condition: Callable[[Status], bool]) -> Status:
    matching: list[Status] = []

    async def has_match() -> bool:
        status = await status_of(address)
        if status is not None and condition(status):
            matching.append(status)
        return bool(matching)

    await until(has_match)
    return matching[0]


async def status_of(address: Address) -> Status | None:
    async with EngineClient(name="test", start=False, address=address) as client:
        try:
            return await client.status()
        except NoEngine:
            return None
