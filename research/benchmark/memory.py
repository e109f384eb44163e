"""Measure the memory of an engine of its own: loaded, and with longer and longer files read."""

from collections.abc import Sequence
from dataclasses import replace

from intarsia.infill.canvas import Budget
from intarsia_research.benchmark.editor.sources import cut_line_of_file
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.fresh_engine import fresh_engine
from intarsia_research.benchmark.side_by_side import plan_line

KILO_TOKENS = (1, 8, 16)
"""The usual engine reads at most 8,192 tokens, and an editor's request has about 1,900."""

_MAX_TOKENS = 1024 * KILO_TOKENS[-1]
_WHOLE = Budget(prefix_tokens=100_000, suffix_tokens=100_000)


async def measure_memory(bench: Bench) -> Sequence[Figure]:
    """Load the model, then fill in each file once. All that was read stays in the cache."""
    flags = ("--max-context-tokens", f"{_MAX_TOKENS}", "--cache-tokens", f"{2 * _MAX_TOKENS}")
    launch = replace(bench.launch, command=(*bench.launch.command, *flags))
    whole = replace(bench.options, budget=_WHOLE)
    async with fresh_engine(launch) as (client, _):
        loaded = await client.preload(bench.options.model)
        figures = [_figure("loaded", "loaded", loaded.resident_bytes)]
        for kilo in KILO_TOKENS:
            await client.fill(plan_line(cut_line_of_file(1000 * kilo), whole).request(whole))
            resident = (await client.status()).resident_bytes
            figures.append(_figure(f"{kilo}k", f"a file of {kilo},000 tokens read", resident))
    return figures


def _figure(name: str, words: str, num_bytes: int) -> Figure:
    return Figure(
        name=f"memory_{name}_gb",
        words=f"memory of the engine, {words}",
        value=num_bytes / 1e9,
        unit="GB",
        method="resident set, with what was read before in the cache",
    )
