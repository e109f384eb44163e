"""Measure starts and reading: the engine, the language server, and the prefill of a context."""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.ipc.messages import Fill
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench, Figure, middle_of
from intarsia_research.benchmark.fresh_engine import folder_variable, fresh_engine
from intarsia_research.evaluation.intervals import percentile
from intarsia_research.evaluation.server_process import serving

_NUM_SERVER_STARTS = 5
_MAX_ENGINE_STARTS = 3
_CONTEXT_CHARS = 6_000
_NUM_PREFILLS = 3


async def measure_start(bench: Bench) -> Sequence[Figure]:
    """Time the start of an engine until its model is loaded. The last engine keeps running."""
    await bench.client.preload(bench.options.model)  # converts the model on the very first run
    repeats = min(bench.repeats, _MAX_ENGINE_STARTS)
    cold = [await _restart(bench, forget_files=True) for _ in range(repeats)]
    warm = [await _restart(bench, forget_files=False) for _ in range(repeats)]
    figures = [_figure("warm", warm, "process start and model load, files in the page cache")]
    if sys.platform == "linux":
        method = "the same, with the files dropped from the page cache"
        figures.insert(0, _figure("cold", cold, method))
    return figures


async def _restart(bench: Bench, *, forget_files: bool) -> float:
    """Return the seconds from a stopped engine to a loaded model."""
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


async def measure_first_fill(bench: Bench) -> Sequence[Figure]:
    """Time the first fill where nothing of ours is there but the downloaded files."""
    downloads = sorted((cache_folder() / "models").glob("*.gguf"))
    repeats = min(bench.repeats, _MAX_ENGINE_STARTS) if downloads else 0
    method = "engine start to the first answer with an empty cache, beside the downloaded file"
    return [
        middle_of(
            [await _fill_first(bench, downloads) for _ in range(repeats)],
            name="first_fill_s",
            words="downloaded file to the first fill",
            unit="s",
            method=method if downloads else "no file is kept: `intarsia pull --keep`",
        )
    ]


async def _fill_first(bench: Bench, downloads: Sequence[Path]) -> float:
    """Return the seconds from no engine to the answer of one that had to convert its model."""
    with tempfile.TemporaryDirectory(dir=cache_folder()) as cache:
        (Path(cache) / "models").mkdir()
        for file in downloads:  # a link in the same file system: it is removed once it is converted
            os.link(file, Path(cache) / "models" / file.name)
        with folder_variable("INTARSIA_CACHE_DIR", Path(cache)):
            async with fresh_engine(bench.launch) as (client, _):
                started = time.perf_counter()
                first = Fill(
                    id=0,
                    prefix="def add(a, b):\n    return ",
                    suffix="\n",
                    max_tokens=16,
                    model=bench.options.model,
                )
                await client.fill(first)
                return time.perf_counter() - started


async def measure_server(bench: Bench) -> Sequence[Figure]:
    """Time the start of the language server, without an engine."""
    seconds = [await _start_server() for _ in range(_NUM_SERVER_STARTS)]
    return [
        Figure(
            name="initialize_s",
            words="LSP initialize",
            value=percentile(seconds, 50),
            unit="s",
            method="from the start of `intarsia serve` to its answer; "
            f"median of {_NUM_SERVER_STARTS}",
        )
    ]


async def _start_server() -> float:
    """Return the seconds from the process start to the answer to `initialize`."""
    started = time.perf_counter()
    async with serving() as server:
        await server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        return time.perf_counter() - started


async def measure_prefill(bench: Bench) -> Sequence[Figure]:
    """Time the prefill of contexts of about two thousand tokens, as measured by the engine."""
    rates = []
    for number, line in enumerate(cut_lines(_NUM_PREFILLS)):
        prefix = f"# {number}\n{line.text[:_CONTEXT_CHARS]}"
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
            method=f"contexts of {_CONTEXT_CHARS:,} characters; median of {_NUM_PREFILLS}",
        )
    ]
