"""End the user's engine, whatever protocol it speaks and even if it hangs."""

import asyncio

import psutil

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.errors import EngineUnavailable, NoEngine
from intarsia.engine.ipc.handshake import connect
from intarsia.engine.ipc.liveness import is_engine_alive

PATIENCE_S = 10.0
"""How long the engine is waited for before the next, harder means."""

_POLL_S = 0.02


async def stop_engine(address: Address, *, name: str, patience_s: float = PATIENCE_S) -> None:
    """Return when the engine has gone. Raises ``NoEngine`` or ``EngineUnavailable``."""
    try:
        await _ask_to_stop(address, name, patience_s)
    except NoEngine:
        raise
    except EngineUnavailable:
        if not is_engine_alive(address):
            raise  # it is no engine that answers
    else:
        if await _is_gone_within(address, patience_s):
            return
    await _end_process(address, patience_s)


async def _ask_to_stop(address: Address, name: str, patience_s: float) -> None:
    connection = await connect(address, name=name, timeout_s=patience_s)
    try:
        async with asyncio.timeout(patience_s):
            await connection.stop_engine()
    except TimeoutError:
        pass  # it hangs: its process is ended next
    finally:
        await connection.close()


async def _end_process(address: Address, patience_s: float) -> None:
    try:
        process = psutil.Process(int(address.pid_path.read_text()))
        process.terminate()
        if await _is_gone_within(address, patience_s):
            return
        process.kill()
    except (OSError, ValueError, psutil.Error) as error:
        if not is_engine_alive(address):
            return
        raise EngineUnavailable(f"cannot end the engine: {error}") from error
    await _is_gone_within(address, patience_s)


async def _is_gone_within(address: Address, patience_s: float) -> bool:
    try:
        async with asyncio.timeout(patience_s):
            while is_engine_alive(address):  # noqa: ASYNC110 another process tells us nothing
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        return False
    return True
