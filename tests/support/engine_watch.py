"""Wait until a running engine is in some state, as its status shows it."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

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


def num_fills(address: Address) -> int:
    """Return how many requests the engine there, which must run, has filled so far.

    It is asked in a thread of its own: the test's may run a browser's event loop.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        status = thread.submit(asyncio.run, status_of(address)).result()
    assert status is not None, "no engine is running"
    return status.num_fills
