"""An engine of one's own, with nothing in its memory, that is gone at the end."""

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
    """Return a client that starts it when it is first asked, and where it runs."""
    with tempfile.TemporaryDirectory(prefix="intarsia-") as folder:
        own = Path(folder) / "run"
        address = replace(resolve_address(), directory=own, log_directory=own)
        async with EngineClient(name="bench", launch=launch, address=address) as client:
            try:
                yield client, address
            finally:
                with suppress(NoEngine):
                    await client.stop()
