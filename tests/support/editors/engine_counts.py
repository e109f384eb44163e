"""The engine's counts, requested in a thread of its own: the test's runs a browser's event loop."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from engine_watch import status_of

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import Status


def engine_status(address: Address) -> Status:
    """Return the status of the engine there, which must run."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        status = thread.submit(asyncio.run, status_of(address)).result()
    assert status is not None, "no engine runs"
    return status


def num_fills(address: Address) -> int:
    """Return how many requests the engine has filled so far."""
    return engine_status(address).num_fills
