"""End the user's engine, even one that hangs or speaks another protocol."""

import asyncio
import contextlib

import psutil

from intarsia.engine.ipc.address import Address, is_engine_alive, prepare_directory
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.handshake import connect

PATIENCE_S = 10.0
"""How long to wait for the engine to end before a harder way is tried."""

STUCK_PATIENCE_S = 5.0
"""The same for an engine that hangs: it ends in this time where only its model does."""

_POLL_S = 0.02

_OBSERVED_S = 1.0

_CLOCK_SLACK_S = 2.0
"""The system knows the start of a process to about a second."""


async def stop_engine(address: Address, *, name: str, patience_s: float = PATIENCE_S) -> None:
    """Return when the engine has ended. Raises ``NoEngine`` or ``EngineUnavailable``."""
    prepare_directory(address.directory)  # in another user's folder the pid may be any process
    try:
        await _ask_to_stop(address, name, patience_s)
    except EngineUnavailable:
        if not is_engine_alive(address):
            raise  # no engine runs, or another program answers
    else:
        if await _is_gone_within(address, patience_s):
            return
    await _end_process(address, patience_s)


def engine_process(address: Address) -> psutil.Process | None:
    """Return the process of the engine that runs, None where it cannot be told."""
    try:
        return _engine_process(address) if is_engine_alive(address) else None
    except (EngineUnavailable, OSError, ValueError, psutil.Error):
        return None


async def uses_processor(process: psutil.Process) -> bool:
    """Tell whether a process gets processor time and uses it: then it is slow, or in a loop."""
    try:
        before = process.cpu_times()
        await asyncio.sleep(_OBSERVED_S)
        after = process.cpu_times()
    except psutil.Error:
        return False
    return after.user + after.system > before.user + before.system


async def end_stuck_engine(
    address: Address, process: psutil.Process, *, patience_s: float = STUCK_PATIENCE_S
) -> None:
    """End an engine that hangs, unless another one runs by now. Raises ``EngineUnavailable``."""
    prepare_directory(address.directory)
    if engine_process(address) != process:
        return  # another client was first
    with contextlib.suppress(psutil.Error):
        if process.status() == psutil.STATUS_STOPPED:  # it takes no other signal
            process.kill()
    await _end_process(address, patience_s)


async def _ask_to_stop(address: Address, name: str, patience_s: float) -> None:
    connection = await connect(address, name=name, timeout_s=patience_s)
    try:
        async with asyncio.timeout(patience_s):
            await connection.stop_engine()
    except TimeoutError:
        pass  # it hangs: the caller ends its process
    finally:
        await connection.close()


async def _end_process(address: Address, patience_s: float) -> None:
    try:
        if not is_engine_alive(address):
            return
        process = _engine_process(address)
        process.terminate()
        if await _is_gone_within(address, patience_s):
            return
        process.kill()
    except (OSError, ValueError, psutil.Error) as error:
        if await _is_gone_within(address, patience_s):
            return
        raise EngineUnavailable(
            f"cannot end the engine ({error}): end the process `intarsia.engine` yourself"
        ) from error
    await _is_gone_within(address, patience_s)


def _engine_process(address: Address) -> psutil.Process:
    """Return the process that wrote the pid file. Raises OSError, ValueError, psutil.Error.

    A process that started after the file was written has reused the id of an engine that is gone.
    """
    written_at = address.pid_path.stat().st_mtime
    process = psutil.Process(int(address.pid_path.read_text()))
    if process.create_time() > written_at + _CLOCK_SLACK_S:
        raise psutil.NoSuchProcess(process.pid, msg="another program has its process id now")
    return process


async def _is_gone_within(address: Address, patience_s: float) -> bool:
    try:
        async with asyncio.timeout(patience_s):
            while is_engine_alive(address):  # noqa: ASYNC110 another process tells us nothing
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        return False
    return True
