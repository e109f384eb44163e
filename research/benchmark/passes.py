"""A pass over a canvas: what it costs by its rows, and what the model takes to load.

Measured in a process of its own, because torch stays out of this one.
"""

import asyncio
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Sequence

import msgspec

from intarsia.engine.errors import ModelError
from intarsia.research.benchmark.figures import Bench, Figure
from intarsia.research.model_cost.pass_figures import PassFigures


async def measure_passes(bench: Bench) -> Sequence[Figure]:
    """Run the measuring program. Raises ModelError with its last words where it fails."""
    words = [sys.executable, "-P", "-m", "intarsia.research.model_cost.pass_cost", "--json"]
    words += [f"--repeats={bench.repeats}"]
    if bench.options.model is not None:
        words += [f"--model={bench.options.model}"]
    with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
        return figures_of(await _output_of(words, folder))


async def _output_of(words: Sequence[str], folder: str) -> bytes:
    process = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=PIPE, cwd=folder)
    try:
        shown, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last_words = said.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise ModelError(f"passes could not be measured: {last_words[-1]}")
    return shown


def figures_of(shown: bytes) -> list[Figure]:
    """Return the figures in what the measuring program has printed."""
    measured = msgspec.json.decode(shown, type=PassFigures)
    return [
        *[_pass(measured, rows, ms) for rows, ms in measured.pass_ms.items()],
        Figure(
            name="model_load_s",
            words="model load",
            value=measured.load_s,
            unit="s",
            method=f"{measured.model} alone, once, without the start of a process",
        ),
        _memory("loaded", "after the load", measured.loaded_bytes),
        _memory("working", "after the passes, which read what is mapped", measured.working_bytes),
    ]


def _pass(measured: PassFigures, num_rows: int, ms: float) -> Figure:
    return Figure(
        name=f"pass_{num_rows}_rows_ms",
        words=f"a pass over a canvas, {num_rows} row{'s' if num_rows > 1 else ''}",
        value=ms,
        unit="ms",
        method=f"behind {measured.context_tokens:,} tokens; median of {measured.repeats}",
    )


def _memory(kind: str, when: str, num_bytes: int) -> Figure:
    return Figure(
        name=f"model_{kind}_gb",
        words=f"memory of the model, {kind}",
        value=num_bytes / 1e9,
        unit="GB",
        method=f"resident set {when}, torch included",
    )
