"""Connect to the user's one engine, start it if none runs, and end it, even one that hangs.

Ten clients at once get one engine. It listens before it loads a model, so this waits for a process
to start, not for a load.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import filelock
import psutil

from intarsia.engine.ipc.address import (
    Address,
    is_engine_alive,
    plain_lock_faults,
    prepare_directory,
    remove_stale_port,
)
from intarsia.engine.ipc.connection import Connection
from intarsia.engine.ipc.errors import EngineUnavailable, NoEngine
from intarsia.engine.ipc.handshake import connect
from intarsia.engine.ipc.ownership import make_own_folder

Greet: TypeAlias = Callable[[], Awaitable[Connection]]

ALREADY_RUNNING_EXIT_CODE = 3
"""The exit code of an engine that found another one at its address."""

_POLL_S = 0.02


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchOptions:
    """How to start the engine; None takes the engine's own default."""

    model: str | None = None
    device: str | None = None
    dtype: str | None = None
    quantize: str | None = None
    idle_timeout_s: float | None = None
    # -P: the engine must not import a file of the folder that it is started from.
    command: tuple[str, ...] = (sys.executable, "-P", "-m", "intarsia.engine")
    start_timeout_s: float = 60.0

    def full_command(self) -> tuple[str, ...]:
        """Return the command with a flag for each option that is set."""
        flags = {
            "--model": self.model,
            "--device": self.device,
            "--dtype": self.dtype,
            "--quantize": self.quantize,
            "--idle-timeout": self.idle_timeout_s,
        }
        pairs = [(flag, str(value)) for flag, value in flags.items() if value is not None]
        return (*self.command, *(argument for pair in pairs for argument in pair))


MAX_LOG_BYTES = 1024 * 1024
"""A longer log is renamed to ``engine.log.1`` at the next start."""

_FOLDERS = ("INTARSIA_CACHE_DIR", "INTARSIA_DATA_DIR")


class DetachedProcess:
    """A started process as its starter sees it: whether it still runs, and what it has logged."""

    def __init__(self, process: subprocess.Popen[bytes], log_path: Path, log_start: int) -> None:
        """``log_start``: where in the log file, in bytes, the output of this process begins."""
        self.log_path = log_path
        self.process = process
        self._log_start = log_start
        # Without a wait in a thread, each ended engine would stay a zombie of a long-lived editor.
        threading.Thread(target=process.wait, name="engine-reaper", daemon=True).start()

    def last_words(self) -> str:
        """Return the last line that the process has written since its start."""
        with self.log_path.open("rb") as log:
            log.seek(self._log_start)
            lines = log.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def start_detached(command: Sequence[str], address: Address) -> DetachedProcess:
    """Start the command with the address in its environment. Raises ``EngineUnavailable``."""
    try:
        log_path = _fresh_log(address)
        with log_path.open("ab") as log:
            log_start = log.tell()  # now: what the process writes moves it
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=address.directory,  # not the user's project: it must stay removable
                env={**os.environ, **address.as_environment(), **absolute_folders()},
                start_new_session=True,
                creationflags=_creation_flags(),
            )
            return DetachedProcess(process, log_path, log_start)
    except OSError as error:
        raise EngineUnavailable(f"cannot start the engine ({command[0]}): {error}") from error


def absolute_folders() -> dict[str, str]:
    """Return the set variables that name our folders, each as a full path.

    A process that starts in another folder than this would read a relative path differently.
    Raises EngineUnavailable where a "~" names no folder.
    """
    return {name: _absolute(name, os.environ[name]) for name in _FOLDERS if os.environ.get(name)}


def _absolute(name: str, folder: str) -> str:
    try:
        return str(Path(folder).expanduser().absolute())
    except RuntimeError as error:  # a "~" for which there is no home folder
        raise EngineUnavailable(
            f"{name} is {folder!r}, which names no folder ({error}): set it to a full path"
        ) from error


def _fresh_log(address: Address) -> Path:
    """Return the log file, renamed if it was long.

    It is in the runtime folder where the log's own folder cannot be made or is not the user's: an
    engine that could not log would not start.
    """
    try:
        if make_own_folder(address.log_directory, is_private=False) is None:
            return _fresh_file(address.log_path)
    except OSError:
        pass  # a read-only home folder, a full disk
    return _fresh_file(address.directory / address.log_path.name)


def _fresh_file(path: Path) -> Path:
    path.touch(mode=0o600)
    if path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_name(path.name + ".1"))
        path.touch(mode=0o600)
    with path.open("ab"):  # it may be there, and not be ours to write
        return path


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0


async def connect_or_start(address: Address, options: LaunchOptions, greet: Greet) -> Connection:
    """Return a connection; an engine is started if none runs. Raises ``EngineUnavailable``.

    ``greet`` connects, and raises ``NoEngine`` while none runs.
    """
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
    remove_stale_port(address)  # read while the engine starts, it would lead elsewhere
    process = start_detached(options.full_command(), address)
    while True:
        exit_code = process.process.poll()
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


STOP_PATIENCE_S = 10.0
"""How long to wait for the engine to end before it is ended by force."""

STUCK_PATIENCE_S = 5.0
"""The same for an engine that hangs: it ends in this time where only its model does."""

_OBSERVED_S = 1.0

_CLOCK_SLACK_S = 2.0
"""The system knows the start of a process to about a second."""


async def stop_engine(address: Address, *, name: str, patience_s: float = STOP_PATIENCE_S) -> None:
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
    """Return whether a process gets processor time and uses it: then it is slow, or in a loop."""
    try:
        before = process.cpu_times()
        await asyncio.sleep(_OBSERVED_S)
        after = process.cpu_times()
    except psutil.Error:
        return False
    return after.user + after.system > before.user + before.system


async def end_stuck_engine(address: Address, process: psutil.Process) -> None:
    """End an engine that hangs, unless another one runs by now. Raises ``EngineUnavailable``."""
    prepare_directory(address.directory)
    if engine_process(address) != process:
        return  # another client was first
    with contextlib.suppress(psutil.Error):
        if process.status() == psutil.STATUS_STOPPED:  # it takes no other signal
            process.kill()
    await _end_process(address, STUCK_PATIENCE_S)


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
