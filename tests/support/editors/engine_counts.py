"""The engine's counts, requested in a thread of its own: the test's runs a browser's event loop."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from engine_watch import status_of

from intarsia.engine.ipc.address import Address


def num_fills(address: Address) -> int:
    """Return how many requests the engine there, which must run, has filled so far."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        status = thread.submit(asyncio.run, status_of(address)).result()
    assert status is not None, "no engine runs"
    return status.num_fills
