"""The faults of a soak: those of ``tests/faults`` that can happen in the middle of work.

Each begins, lasts for some seconds at most, and ends; recovery is the product's own affair.
"""

import asyncio
import contextlib
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import psutil
from faults.ground import Ground
from lsprotocol import types
from soak.record import ROLES
from soak.typist import Typist

from intarsia.engine.ipc.client import NoEngine
from intarsia.engine.ipc.stop import stop_engine

NUM_CHANGED = 1_000
LASTS_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """``random`` draws the victims. The first half of the typists' servers is never killed."""

    ground: Ground
    typists: Sequence[Typist]
    random: Random

    def processes(self, role: str) -> list[psutil.Process]:
        return self.ground.processes(ROLES[role])

    def mortal(self) -> Typist:
        return self.random.choice(self.typists[len(self.typists) // 2 :])


def send(processes: Iterable[psutil.Process], number: int) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)


async def pause(processes: Sequence[psutil.Process], seconds: float = LASTS_S) -> None:
    send(processes, signal.SIGSTOP)
    await asyncio.sleep(seconds)
    send(processes, signal.SIGCONT)


async def engine_killed(stage: Stage) -> None:
    send(stage.processes("engine"), signal.SIGKILL)


async def engine_stopped(stage: Stage) -> None:
    """It is never continued: the product ends it."""
    send(stage.processes("engine"), signal.SIGSTOP)


async def engine_stopped_and_continued(stage: Stage) -> None:
    await pause(stage.processes("engine"))


async def engine_ended_by_command(stage: Stage) -> None:
    with contextlib.suppress(NoEngine):
        await stop_engine(stage.ground.address, name="soak")


async def all_asleep(stage: Stage) -> None:
    """The machine sleeps and wakes up."""
    await pause(stage.ground.processes())


async def server_killed(stage: Stage) -> None:
    stage.mortal().server.kill()


async def input_closed(stage: Stage) -> None:
    """An editor ends without a shutdown, as one that was killed."""
    stage.mortal().server.stdin.close()


async def socket_removed(stage: Stage) -> None:
    stage.ground.address.socket_path.unlink(missing_ok=True)


async def runtime_folder_removed(stage: Stage) -> None:
    shutil.rmtree(stage.ground.address.directory, ignore_errors=True)


async def thousand_files_changed(stage: Stage) -> None:
    """A checkout of another branch: files are written, or removed again."""
    paths = [stage.ground.project / f"m{number}.py" for number in range(NUM_CHANGED)]
    is_there = paths[0].exists()
    for path in paths:
        path.unlink() if is_there else path.write_text(f"def of_{path.stem}(): pass\n")
    kind = types.FileChangeType.Deleted if is_there else types.FileChangeType.Created
    events = [types.FileEvent(path.as_uri(), kind) for path in paths]
    for typist in stage.typists:
        with contextlib.suppress(RuntimeError, OSError):
            params = types.DidChangeWatchedFilesParams(events)
            typist.client.workspace_did_change_watched_files(params)


async def cache_damaged(stage: Stage) -> None:
    """The first half of each file in the cache is overwritten, with processes that have it open."""
    for path in stage.ground.cache.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file():
                with path.open("r+b") as file:
                    file.write(b"damaged!" * (path.stat().st_size // 16))


async def index_killed(stage: Stage) -> None:
    send(stage.processes("index"), signal.SIGKILL)


async def index_stopped(stage: Stage) -> None:
    await pause(stage.processes("index"), 2 * LASTS_S)


def model_breaks(word: str) -> Callable[[Stage], Awaitable[None]]:
    """Return a fault of the engine's model in a fill: crash, wedge, spin or device."""
    return lambda stage: stage.random.choice(stage.typists).ask_for(f"{word} =")


FAULTS: Mapping[str, Callable[[Stage], Awaitable[None]]] = {
    **{
        fault.__name__: fault
        for fault in (
            engine_killed,
            engine_stopped,
            engine_stopped_and_continued,
            engine_ended_by_command,
            server_killed,
            input_closed,
            all_asleep,
            socket_removed,
            runtime_folder_removed,
            thousand_files_changed,
            cache_damaged,
            index_killed,
            index_stopped,
        )
    },
    **{f"model_{word}": model_breaks(word) for word in ("crash", "wedge", "spin", "device")},
}
