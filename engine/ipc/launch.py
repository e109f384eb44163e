"""Connect to the user's one engine, and start it if none runs; ten clients at once get one engine.

The engine listens before it loads a model, so this waits for a process to start, not for a load.
"""

import asyncio
import contextlib
import functools
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import filelock

from intarsia.engine.ipc.address import Address, prepare_directory
from intarsia.engine.ipc.connection import Connection
from intarsia.engine.ipc.detached import DetachedProcess, start_detached
from intarsia.engine.ipc.errors import EngineUnavailable, NoEngine
from intarsia.engine.ipc.handshake import connect
from intarsia.engine.ipc.liveness import plain_lock_faults
from intarsia.engine.ipc.messages import LoadProgress

Greet: TypeAlias = Callable[[], Awaitable[Connection]]

ALREADY_RUNNING_EXIT_CODE = 3
"""The exit code of an engine that found another one at its address."""

_POLL_S = 0.02


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchOptions:
    """How to start the engine; None takes the engine's own default."""

    model: str | None = None
    adapter: Path | None = None
    device: str | None = None
    dtype: str | None = None
    quantize: str | None = None
    idle_timeout_s: float | None = None
    cache_tokens: int | None = None
    max_context_tokens: int | None = None
    # -P: the engine must not import a file of the folder that it is started from.
    command: tuple[str, ...] = (sys.executable, "-P", "-m", "intarsia.engine")
    start_timeout_s: float = 60.0

    def full_command(self) -> tuple[str, ...]:
        """Return the command with a flag for each option that is set."""
        flags = {
            "--model": self.model,
            "--adapter": None if self.adapter is None else self.adapter.absolute(),
            "--device": self.device,
            "--dtype": self.dtype,
            "--quantize": self.quantize,
            "--idle-timeout": self.idle_timeout_s,
            "--cache-tokens": self.cache_tokens,
            "--max-context-tokens": self.max_context_tokens,
        }
        pairs = [(flag, str(value)) for flag, value in flags.items() if value is not None]
        return (*self.command, *(argument for pair in pairs for argument in pair))


async def connect_or_start(
    address: Address,
    options: LaunchOptions,
    *,
    name: str,
    on_load_progress: Callable[[LoadProgress], None] | None = None,
) -> Connection:
    """Return a connection to the engine, which is started if none runs.

    Raises ``EngineUnavailable``.
    """
    greet = functools.partial(connect, address, name=name, on_load_progress=on_load_progress)
    try:
        async with asyncio.timeout(options.start_timeout_s):
            return await _connect_or_start(address, options, greet)
    except TimeoutError as error:
        raise EngineUnavailable(
            f"the engine did not start within {options.start_timeout_s:g} s: "
            f"see {address.log_path}, or run `intarsia engine` to watch it"
        ) from error


async def _connect_or_start(address: Address, options: LaunchOptions, greet: Greet) -> Connection:
    prepare_directory(address.directory)
    lock = filelock.FileLock(address.launch_lock_path)
    while True:
        with contextlib.suppress(NoEngine):
            return await greet()
        with contextlib.suppress(NoEngine, filelock.Timeout):
            with plain_lock_faults(address):
                held = lock.acquire(blocking=False)
            with held:
                return await _start(address, options, greet)
        await asyncio.sleep(_POLL_S)


async def _start(address: Address, options: LaunchOptions, greet: Greet) -> Connection:
    """Start an engine and wait until it answers. Call it with the launch lock held."""
    with contextlib.suppress(NoEngine):
        return await greet()  # another client has started one
    process = start_detached(options.full_command(), address)
    while True:
        exit_code = process.exit_code()
        with contextlib.suppress(NoEngine):
            return await greet()
        if exit_code is not None:
            raise _early_end(process, exit_code)
        await asyncio.sleep(_POLL_S)


def _early_end(process: DetachedProcess, exit_code: int) -> EngineUnavailable:
    if exit_code == ALREADY_RUNNING_EXIT_CODE:
        return NoEngine("another engine was started first, and has ended")
    return EngineUnavailable(
        f"the engine did not start: {process.last_words()} "
        f"(exit code {exit_code}, log: {process.log_path})"
    )
