"""Start an engine of the benchmark's own, with empty caches, and end it afterwards."""

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from intarsia.engine.ipc.address import Address, resolve_address
from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.engine.ipc.launch import LaunchOptions


@asynccontextmanager
async def fresh_engine(launch: LaunchOptions) -> AsyncIterator[tuple[EngineClient, Address]]:
    """Yield a client, which starts the engine with its first request, and the engine's address."""
    with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
        own = Path(folder) / "run"
        address = replace(resolve_address(), directory=own, log_directory=own)
        async with EngineClient(name="bench", launch=launch, address=address) as client:
            try:
                yield client, address
            finally:
                with suppress(NoEngine):
                    await client.stop()


@contextmanager
def folder_variable(name: str, folder: Path) -> Iterator[None]:
    """Set an environment variable to a folder, for this process and those that it starts."""
    before = os.environ.get(name)
    os.environ[name] = str(folder)
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before
