"""Start an engine of the benchmark's own, with empty caches, and end it afterwards."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from intarsia.engine.ipc.address import Address, resolve_address
from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.engine.ipc.launch import LaunchOptions


@asynccontextmanager
async def fresh_engine(launch: LaunchOptions) -> AsyncIterator[tuple[EngineClient, Address]]:
    """Yield a client, which starts the engine with its first request, and the engine's address."""
    with tempfile.TemporaryDirectory(prefix="intarsia-") as folder:
        own = Path(folder) / "run"
        address = replace(resolve_address(), directory=own, log_directory=own)
        async with EngineClient(name="bench", launch=launch, address=address) as client:
            try:
                yield client, address
            finally:
                with suppress(NoEngine):
                    await client.stop()
