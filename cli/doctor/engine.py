"""Check the engine: the folder of its socket, and whether it answers."""

import asyncio
import os

from intarsia.cli.doctor.finding import Finding
from intarsia.engine.ipc.address import prepare_directory, resolve_address
from intarsia.engine.ipc.client import EngineClient, EngineError, NoEngine


def check_runtime_folder() -> Finding:
    """Check that only the user has access to the folder of the engine's socket."""
    try:
        folder = resolve_address().directory
        if not os.path.lexists(folder):
            return Finding(name="socket", found=f"{folder} (created when the engine starts)")
        prepare_directory(folder)
    except EngineError as error:
        return _missing("socket", error)
    return Finding(name="socket", found=f"{folder}, yours alone")


def check_engine() -> Finding:
    """Check whether the engine runs and answers."""
    try:
        return Finding(name="engine", found=asyncio.run(_ask_engine()))
    except NoEngine:
        return Finding(name="engine", found="not running; the next fill starts it")
    except EngineError as error:
        return _missing("engine", error)


async def _ask_engine() -> str:
    async with EngineClient(name="cli", start=False) as client:
        status = await client.status()
    model = "no model loaded yet"
    if status.model is not None:
        model = f"{status.model} ({status.dtype} on {status.device})"
    return f"{status.state}, {model}, process {status.pid}"


def _missing(name: str, error: EngineError) -> Finding:
    """Return the finding of an error: the engine's messages have advice after a colon."""
    what, _, advice = str(error).partition(": ")
    return Finding(name=name, state="missing", found=what, advice=advice or "see its log")
