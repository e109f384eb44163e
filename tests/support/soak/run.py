"""Runs a soak: typists at work, faults by a schedule, samples, and rest before and after."""

import asyncio
import contextlib
import shutil
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import psutil
from engine_watch import until
from faults.ground import Ground
from lsprotocol import types
from soak.record import ROLES, STUCK_AFTER_S, Record
from soak.typist import Typist

from intarsia.engine.ipc.client import NoEngine
from intarsia.engine.ipc.launch import stop_engine

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


SAMPLE_EVERY_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """``every_s``: from one fault to the next. ``warm_up_s``: work before, without any."""

    seconds: float = 3600.0
    every_s: float = 60.0
    warm_up_s: float = 60.0
    num_clients: int = 8
    seed: int = 1

    def faults(self) -> list[str]:
        """Return one for each interval; the last tenth repeats the first, so that they compare."""
        random, drawn, num = Random(self.seed), list[str](), int(self.seconds // self.every_s)
        while len(drawn) < num:
            drawn += random.sample(list(FAULTS), len(FAULTS))
        num_compared = num // 10 if num > 2 * len(FAULTS) else 0
        return drawn[: num - num_compared] + drawn[:num_compared]


async def run(
    plan: Plan, ground: Ground, on_fault: Callable[[Record], None] = lambda _: None
) -> Record:
    """Return what was measured. The clients are shut down at the end, the engine is left.

    After each interval ``on_fault`` is called with what is known so far.
    """
    record = Record(tenth_s=plan.seconds / 10)
    typists = [Typist(it, ground, record, plan.seed) for it in range(plan.num_clients)]
    await asyncio.gather(*(it.start() for it in typists))
    await _work(typists, record, asyncio.sleep(plan.warm_up_s))
    await until(lambda: _has_index(ground), STUCK_AFTER_S)
    record.rest_before = await _rest(record, ground)
    record.began_s = record.elapsed_s()
    stage = Stage(ground=ground, typists=typists, random=Random(f"victims {plan.seed}"))
    sampling = asyncio.ensure_future(_sample(record, ground))
    await _work(typists, record, _faults(plan, stage, record, on_fault))
    sampling.cancel()
    record.rest_after = await _rest(record, ground)
    await asyncio.gather(*(it.end() for it in typists))
    return record


async def _work(
    typists: Sequence[Typist], record: Record, meanwhile: Coroutine[Any, Any, None]
) -> None:
    """Let all typists work meanwhile; then see that each document is in step."""
    stopped = asyncio.Event()
    working = [asyncio.ensure_future(it.work(stopped)) for it in typists]
    ending = asyncio.ensure_future(meanwhile)
    done, _ = await asyncio.wait([ending, *working], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        await task  # a typist that ends before it is told to has failed
    stopped.set()
    await asyncio.gather(*working)
    for typist in typists:
        try:
            await until(typist.is_in_step, STUCK_AFTER_S)
        except TimeoutError:
            record.out_of_step.append(typist.number)


async def _faults(
    plan: Plan, stage: Stage, record: Record, on_fault: Callable[[Record], None]
) -> None:
    happening = []
    for number, name in enumerate(plan.faults(), start=1):
        record.happened.append((record.elapsed_s(), name))
        happening.append(asyncio.ensure_future(_happen(name, stage)))
        await asyncio.sleep(record.began_s + number * plan.every_s - record.elapsed_s())
        record.ended_s = record.elapsed_s()
        on_fault(record)
    await asyncio.gather(*happening)


async def _happen(name: str, stage: Stage) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):  # an earlier fault has ended the process
        await FAULTS[name](stage)


async def _sample(record: Record, ground: Ground) -> None:
    while True:
        record.sample(ground)
        await asyncio.sleep(SAMPLE_EVERY_S)


async def _has_index(ground: Ground) -> bool:
    """Tell whether each index has its files open: it does so in idle time."""
    processes = [it for it in ground.processes(ROLES["index"]) if it.cmdline()[-1] != "parse"]
    return all(process.open_files() for process in processes)


async def _rest(record: Record, ground: Ground) -> Any:
    """Return what processes hold at rest: no more than before, if that comes true at all."""

    async def is_as_before() -> bool:
        record.rest_after = record.sample(ground)
        return not record.left()

    with contextlib.suppress(TimeoutError):
        await until(is_as_before, STUCK_AFTER_S)
    return record.rest_after
