"""Measure the project's index: how soon it is useful, how long it takes, what it costs when idle.

The workspace is made of the Python files of the installed packages, in folders of their own names.
It is indexed by the process that the language server starts, at its low priority.
"""

import asyncio
import shutil
import sysconfig
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.chunk import Place
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.process.client import IndexClient
from intarsia.workspace.process.messages import ChooseChunks, Chosen, GetStatistics, Statistics
from intarsia_research.benchmark.figures import Bench, Figure, middle_of
from intarsia_research.benchmark.fresh_engine import folder_variable
from intarsia_research.errors import BenchmarkFault
from intarsia_research.evaluation.intervals import percentile

SIZES = (1_000, 10_000)
IDLE_S = 20.0
MAX_INDEX_S = 600.0

_NUM_CHANGES = 12
_NUM_CHOICES = 24
_POLL_S = 0.02
_ANSWER_S = 30.0
_MAX_COPIED_BYTES = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class _Indexed:
    """Times in seconds from the opening of the folder; ``near_s``: the open file's folder."""

    near_s: float
    all_s: float
    processor_s: float
    peak_bytes: int
    statistics: Statistics


async def measure_index(bench: Bench) -> Sequence[Figure]:
    """Index workspaces of two sizes; change files, choose context and idle in the larger one."""
    return [figure for size in SIZES for figure in await _measure(size)]


async def _measure(size: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="intarsia-index-") as folder:
        root = Path(folder, "workspace")
        files = _make_workspace(root, size)
        async with _client(Path(folder, "cache")) as client:
            done = await _index(client, root, files[len(files) // 2])
            figures = _size_figures(len(files), done)
            if size == SIZES[-1]:
                figures += await _change_figures(client, root)
                figures.append(await _choice_figure(client, files))
                figures.append(await _idle_figure())
        return figures


@asynccontextmanager
async def _client(cache: Path) -> AsyncIterator[IndexClient]:
    with folder_variable("INTARSIA_CACHE_DIR", cache):
        client = IndexClient(lambda _: None)
        try:
            yield client
        finally:
            await client.close()


def _make_workspace(root: Path, size: int) -> list[Path]:
    """Copy files of the installed packages, again and again with another first line if need be."""
    sources = list(_sources())
    if not sources:
        raise BenchmarkFault("no installed package has Python files to copy: pip install some")
    made = []
    for number in range(size):
        source, inside = sources[number % len(sources)]
        copy = number // len(sources)
        path = root / f"part{copy}" / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        if copy:
            text = source.read_text(encoding="utf-8", errors="replace")
            path.write_text(f"# copy {copy}\n{text}", encoding="utf-8")
        else:
            shutil.copyfile(source, path)
        made.append(path)
    return made


def _sources() -> Iterator[tuple[Path, Path]]:
    for name in ("purelib", "stdlib"):
        folder = Path(sysconfig.get_paths()[name])
        for path in sorted(folder.rglob("*.py")):
            inside = path.relative_to(folder)
            is_package = not {"site-packages", "__pycache__", "build"} & set(inside.parts)
            if is_package and 200 < path.stat().st_size < _MAX_COPIED_BYTES:
                yield path, Path(name, inside)


async def _index(client: IndexClient, root: Path, opened: Path) -> _Indexed:
    started = time.perf_counter()
    client.open_roots([RootSettings(path=str(root))], has_file_events=True)
    num_near = _open(client, opened)
    near_s, peak = 0.0, 0
    while True:
        await asyncio.sleep(_POLL_S if not near_s else 10 * _POLL_S)
        seconds = time.perf_counter() - started
        statistics = await client.ask(GetStatistics(), Statistics, timeout_s=_ANSWER_S)
        peak = max(peak, _memory())
        if statistics is not None:
            # The nearest files are read first, so they are known when as many are.
            if not near_s and statistics.num_files >= num_near:
                near_s = seconds
            if statistics.state in ("ready", "failed"):
                return _Indexed(
                    near_s=near_s or seconds,
                    all_s=seconds,
                    processor_s=_processor_s(),
                    peak_bytes=peak,
                    statistics=statistics,
                )
        if seconds > MAX_INDEX_S:
            raise BenchmarkFault(f"the index takes over {MAX_INDEX_S:.0f} s: close programs")


def _open(client: IndexClient, path: Path) -> int:
    """Open a file; return how many files its folder has."""
    client.open_text(str(path), path.read_text(encoding="utf-8", errors="replace"))
    return len(list(path.parent.glob("*.py")))


def _size_figures(num_files: int, done: _Indexed) -> list[Figure]:
    kilo = f"{num_files // 1000}k"
    method = f"{num_files:,} Python files of installed packages"
    known = done.statistics
    return [
        Figure(
            name=f"index_{kilo}_near_s",
            words=f"index of {num_files:,} files, first useful",
            value=done.near_s,
            unit="s",
            method=f"{method}; until as many files are known as the open file's folder has",
        ),
        Figure(
            name=f"index_{kilo}_s",
            words=f"index of {num_files:,} files, all",
            value=done.all_s,
            unit="s",
            method=f"{method}; {known.num_definitions:,} definitions, "
            f"{known.num_left_out:,} files left out",
        ),
        Figure(
            name=f"index_{kilo}_processor_s",
            words=f"index of {num_files:,} files, processor time",
            value=done.processor_s,
            unit="s",
            method="of both processes; at their low priority they wait for whatever else runs",
        ),
        Figure(
            name=f"index_{kilo}_mb",
            words=f"index of {num_files:,} files, memory",
            value=done.peak_bytes / 1e6,
            unit="MB",
            method="most of the resident set without shared pages, of both processes, while it "
            "indexes",
        ),
    ]


async def _change_figures(client: IndexClient, root: Path) -> list[Figure]:
    times = []
    for number in range(_NUM_CHANGES):
        path = root / f"changed_{number}.py"
        path.write_text(f"class Changed{number}:\n    def run(self) -> int:\n        return 1\n")
        before = await client.ask(GetStatistics(), Statistics, timeout_s=_ANSWER_S)
        started = time.perf_counter()
        client.files_changed([str(path)])
        while True:
            after = await client.ask(GetStatistics(), Statistics, timeout_s=_ANSWER_S)
            if before and after and after.num_files > before.num_files:
                break
            if time.perf_counter() - started > _ANSWER_S:
                break
            await asyncio.sleep(0.001)
        times.append(1000 * (time.perf_counter() - started))
    return [
        middle_of(
            times,
            name="index_change_ms",
            words="one changed file",
            unit="ms",
            method="from the message until the index knows it, with the polling for it",
        )
    ]


async def _choice_figure(client: IndexClient, files: Sequence[Path]) -> Figure:
    times = []
    for path in files[:: max(1, len(files) // _NUM_CHOICES)]:
        text = path.read_text(encoding="utf-8", errors="replace")
        middle = len(text) // 2
        place = Place(
            path=path.as_posix(),
            text=text,
            language=language_for_id("python"),
            offset=middle,
            window_start=max(0, middle - 1_500),
            window_end=middle + 500,
        )
        started = time.perf_counter()
        question = ChooseChunks.at(place)
        if await client.ask(question, Chosen, timeout_s=_ANSWER_S) is not None:
            times.append(1000 * (time.perf_counter() - started))
    return Figure(
        name="index_choice_p95_ms",
        words="choosing context, p95",
        value=percentile(times, 95) if times else None,
        unit="ms",
        method=f"{len(times)} places, each in a file that was not asked for before",
    )


async def _idle_figure() -> Figure:
    before = _processor_s()
    await asyncio.sleep(IDLE_S)
    return Figure(
        name="index_idle_percent",
        words="index, idle",
        value=100 * (_processor_s() - before) / IDLE_S,
        unit="%",
        method=f"of one core, both processes, {IDLE_S:.0f} s without a message",
    )


def _processes() -> list[psutil.Process]:
    """Return the processes of the index that this one has started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "intarsia.workspace" in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def _memory() -> int:
    total = 0
    for process in _processes():
        try:
            usage = process.memory_full_info()
        except psutil.Error:
            continue
        total += getattr(usage, "pss", 0) or usage.rss
    return total


def _processor_s() -> float:
    return sum(sum(process.cpu_times()[:2]) for process in _processes())
