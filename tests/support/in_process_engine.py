"""Run the engine's service in the test's process, at a real socket, with a filler of the test."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.errors import NoEngine
from intarsia.engine.ipc.handshake import open_stream
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.endpoint import hold_address
from intarsia.engine.service.model_slot import CheckModel, LoadFiller, check_nothing
from intarsia.engine.service.service import Service


@contextlib.asynccontextmanager
async def in_process_engine(
    address: Address,
    load_filler: LoadFiller,
    *,
    idle_timeout_s: float = 60,
    model: str = "rules",
    check_model: CheckModel = check_nothing,
) -> AsyncIterator[Service]:
    config = EngineConfig(model=model, idle_timeout_s=idle_timeout_s)
    with hold_address(address):
        service = Service(config, load_filler, address, check_model=check_model)
        running = asyncio.create_task(service.run())
        await _until_listening(address, running)
        try:
            yield service
        finally:
            service.request_stop()
            await running


@contextlib.asynccontextmanager
async def engine_client(address: Address, filler: Filler) -> AsyncIterator[EngineClient]:
    async with (
        in_process_engine(address, always(filler)),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        yield client


def hole(prefix: str = "", **fields: Any) -> Fill:
    return Fill(id=0, prefix=prefix, suffix="", **fields)


def always(filler: Filler) -> LoadFiller:
    def load(_: EngineConfig, __: str, on_progress: Progress) -> Filler:
        on_progress("loading", 1.0)
        return filler

    return load


async def _until_listening(address: Address, running: asyncio.Task[bool]) -> None:
    while not running.done():
        with contextlib.suppress(NoEngine):
            stream = await open_stream(address)
            stream.writer.close()
            return
        await asyncio.sleep(0)  # the service runs now
