"""Measure a forward pass over a canvas by its number of rows, and the loading of the model.

It is measured in a separate process, so that torch is not loaded in this one.
"""

import asyncio
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Sequence

import msgspec

from intarsia.engine.errors import ModelError
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.model_cost.pass_figures import PassFigures


async def measure_passes(bench: Bench) -> Sequence[Figure]:
    """Run the measuring program. Raise ModelError with its last line if it fails."""
    words = [sys.executable, "-P", "-m", "intarsia_research.model_cost.pass_cost", "--json"]
    words += [f"--repeats={bench.repeats}"]
    if bench.options.model is not None:
        words += [f"--model={bench.options.model}"]
    with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
        return figures_of(await _output_of(words, folder))


async def _output_of(words: Sequence[str], folder: str) -> bytes:
    process = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=PIPE, cwd=folder)
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last_lines = errors.decode(errors="replace").strip().splitlines() or ["it printed nothing"]
        raise ModelError(f"passes could not be measured: {last_lines[-1]}")
    return output


def figures_of(output: bytes) -> list[Figure]:
    """Return the figures in the output of the measuring program."""
    measured = msgspec.json.decode(output, type=PassFigures)
    return [
        *[_pass(measured, rows, ms) for rows, ms in measured.pass_ms.items()],
        Figure(
            name="model_load_s",
            words="model load",
            value=measured.load_s,
            unit="s",
            method=f"{measured.model} alone, once, without the process start",
        ),
        _memory("loaded", "after the load", measured.loaded_bytes),
        _memory(
            "working", "after the passes, which read the mapped weights", measured.working_bytes
        ),
    ]


def _pass(measured: PassFigures, num_rows: int, ms: float) -> Figure:
    return Figure(
        name=f"pass_{num_rows}_rows_ms",
        words=f"a pass over a canvas, {num_rows} row{'s' if num_rows > 1 else ''}",
        value=ms,
        unit="ms",
        method=f"after {measured.context_tokens:,} tokens; median of {measured.repeats}",
    )


def _memory(kind: str, when: str, num_bytes: int) -> Figure:
    return Figure(
        name=f"model_{kind}_gb",
        words=f"memory of the model, {kind}",
        value=num_bytes / 1e9,
        unit="GB",
        method=f"resident set {when}, torch included",
    )
