"""Where a fault happens: folders of the test's own, its processes, and what must not be left."""

import contextlib
import gc
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from engine_watch import engine_once, status_of, until
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import NoEngine
from intarsia.engine.ipc.launch import stop_engine
from intarsia.engine.ipc.messages import Status

PATIENCE_S = 150.0
KEPT_FILES = {"engine.lock", "launch.lock", "engine.log", "engine.log.1"}
"""What an engine that has ended leaves in its folder, for the next one."""
STALE_FILES = {"engine.sock", "engine.pid"}
"""What one that was killed leaves besides: the next one removes it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """An address, and folders for all that processes write."""

    address: Address
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def environment(self) -> dict[str, str]:
        """Return the variables by which processes use these folders and no others."""
        return {
            **self.address.as_environment(),
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local"),
            "XDG_STATE_HOME": str(self.home / ".state"),
            "INTARSIA_CACHE_DIR": str(self.cache),
            "INTARSIA_DATA_DIR": str(self.folder / "data"),
            "TMPDIR": str(self.temporary),
        }

    def processes(self, *words: str) -> list[psutil.Process]:
        """Return the running processes of this ground, with these words in their commands."""
        return [
            process
            for process in psutil.process_iter()
            if self._is_here(process) and all(word in _command(process) for word in words)
        ]

    def _is_here(self, process: psutil.Process) -> bool:
        try:
            is_running = process.status() != psutil.STATUS_ZOMBIE
            here = process.environ().get("INTARSIA_RUNTIME_DIR")
        except psutil.Error:
            return False
        return is_running and here == str(self.address.directory) and process.pid != os.getpid()

    async def engine(self, state: str = "ready") -> Status:
        return await engine_once(self.address, lambda status: status.state == state)

    def log(self) -> str:
        return self.address.log_path.read_text(errors="replace")

    async def end(self) -> None:
        """End the engine as a user does, and see that nothing is left."""
        await self._clients_have_left()
        kept = KEPT_FILES
        try:
            await stop_engine(self.address, name="test")
        except NoEngine:
            kept = KEPT_FILES | STALE_FILES
        await until(self._is_quiet, PATIENCE_S)
        left = {path.name for path in self.address.directory.glob("*")}
        assert left <= kept, left
        assert list(self.temporary.iterdir()) == []

    async def _clients_have_left(self) -> None:
        async def no_other() -> bool:
            status = await status_of(self.address)
            return status is None or status.num_clients == 1

        await until(no_other, PATIENCE_S)

    async def _is_quiet(self) -> bool:
        return not self.processes()

    def kill_all(self) -> None:
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                process.kill()


@contextlib.contextmanager
def fault_ground(folder: Path) -> Iterator[Ground]:
    """Yield a ground; at the end, this process holds no more files and threads than before."""
    before = _held()
    with temporary_address() as address:
        ground = Ground(address=address, folder=folder)
        for path in (ground.home, ground.cache, ground.temporary, ground.project):
            path.mkdir()
        try:
            yield ground
        finally:
            ground.kill_all()
    gc.collect()
    assert _held() <= before, (_held(), before)


def _held() -> tuple[int, int]:
    threads = [it for it in threading.enumerate() if not it.name.startswith("asyncio")]
    return psutil.Process().num_fds(), len(threads)


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
