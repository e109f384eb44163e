"""Run sections of the benchmark, one after the other, on an engine of its own."""

from collections.abc import Callable, Sequence

from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.fresh_engine import fresh_engine
from intarsia_research.benchmark.sections import Section
from intarsia_research.evaluation.systems.baseline import Baseline


async def run_sections(
    sections: Sequence[Section],
    *,
    options: FillOptions,
    repeats: int,
    baselines: Sequence[Baseline],
    on_progress: Callable[[str, float], None],
) -> list[Figure]:
    """Return the figures of the sections. Engine and baselines are ended with the last."""
    figures: list[Figure] = []
    launch = LaunchOptions()
    on_progress("starting an engine", 0.0)
    async with fresh_engine(launch) as (client, address):
        await client.preload(options.model)
        bench = Bench(
            client=client,
            address=address,
            options=options,
            repeats=repeats,
            launch=launch,
            baselines=baselines,
        )
        for num_done, section in enumerate(sections):
            on_progress(section.words, num_done / len(sections))
            for measure in section.parts:
                figures += await measure(bench)
    return figures
