"""From no engine to a loaded model: how long it takes with the files in memory, and without."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.ipc.messages import Fill
from intarsia.research.benchmark.figures import Bench, Figure, percentile
from intarsia.research.benchmark.sources import cut_lines
from intarsia.research.evaluation.server_process import serving

_STARTS = 5


async def measure_server(bench: Bench) -> Sequence[Figure]:
    """Start servers one after the other; no engine takes part."""
    seconds = [await _start() for _ in range(_STARTS)]
    return [
        Figure(
            name="initialize_s",
            words="LSP initialize",
            value=percentile(seconds, 50),
            unit="s",
            method=f"from the start of `intarsia serve` to its answer; median of {_STARTS}",
        )
    ]


async def _start() -> float:
    """Return the seconds from no server to its answer."""
    started = time.perf_counter()
    async with serving() as server:
        await server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        return time.perf_counter() - started


_CHARACTERS = 6_000
_REPEATS = 3


async def measure_prefill(bench: Bench) -> Sequence[Figure]:
    """Send contexts of some two thousand tokens, and take the engine's own times."""
    rates = []
    for number, line in enumerate(cut_lines(_REPEATS)):
        prefix = f"# {number}\n{line.text[:_CHARACTERS]}"
        filled = await bench.client.fill(
            Fill(id=0, prefix=prefix, suffix="\n", max_tokens=1, model=bench.options.model)
        )
        rates.append(filled.ms.prefill / max(1, filled.num_prefilled) * 1000)
    return [
        Figure(
            name="prefill_ms_per_1k_tokens",
            words="prefill of 1,000 tokens",
            value=percentile(rates, 50),
            unit="ms",
            method=f"contexts of {_CHARACTERS:,} characters; median of {_REPEATS}",
        )
    ]


_MAX_STARTS = 3


async def measure_start(bench: Bench) -> Sequence[Figure]:
    """Start, load and stop; the engine of the last start goes on."""
    await bench.client.preload(bench.options.model)  # converts on the very first run
    repeats = min(bench.repeats, _MAX_STARTS)
    cold = [await _restart(bench, forget_files=True) for _ in range(repeats)]
    warm = [await _restart(bench, forget_files=False) for _ in range(repeats)]
    figures = [_figure("warm", warm, "process start and model load, files in the page cache")]
    if sys.platform == "linux":
        method = "the same, files dropped from the page cache before"
        figures.insert(0, _figure("cold", cold, method))
    return figures


async def _restart(bench: Bench, *, forget_files: bool) -> float:
    """Return the seconds from no engine to a loaded model."""
    await bench.client.stop()
    if forget_files and sys.platform == "linux":
        _drop_from_page_cache(cache_folder() / "converted")
    started = time.perf_counter()
    await bench.client.preload(bench.options.model)
    return time.perf_counter() - started


def _figure(kind: str, seconds: Sequence[float], method: str) -> Figure:
    return Figure(
        name=f"engine_start_{kind}_s",
        words=f"engine start, {kind}",
        value=percentile(seconds, 50),
        unit="s",
        method=f"{method}; median of {len(seconds)}",
    )


def _drop_from_page_cache(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
