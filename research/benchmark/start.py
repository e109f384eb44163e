"""From no engine to a loaded model: how long it takes with the files in memory, and without."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from intarsia.cli.figures import Bench, Figure, percentile
from intarsia.engine.default_model.cache_folder import cache_folder

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
