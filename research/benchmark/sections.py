"""The sections of a benchmark, and how they run: in order, on an engine of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.infill.filling.plan import FillOptions
from intarsia_research.benchmark.cancel import measure_cancel
from intarsia_research.benchmark.determinism import measure_determinism
from intarsia_research.benchmark.editing import measure_editing
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.fresh_engine import fresh_engine
from intarsia_research.benchmark.index import measure_index
from intarsia_research.benchmark.memory import measure_memory
from intarsia_research.benchmark.side_by_side import measure_side_by_side
from intarsia_research.benchmark.start import (
    measure_first_fill,
    measure_prefill,
    measure_server,
    measure_start,
)
from intarsia_research.benchmark.typing import measure_typing
from intarsia_research.benchmark.users import measure_users
from intarsia_research.evaluation.systems.baseline import Baseline


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One section: ``parts`` are measured in order, and ``words`` describe their work."""

    name: str
    words: str
    parts: Sequence[Callable[[Bench], Awaitable[Sequence[Figure]]]]


SECTIONS: tuple[Section, ...] = (
    Section(
        name="start",
        words="starting engines and servers",
        parts=(measure_first_fill, measure_start, measure_server, measure_prefill),
    ),
    Section(
        name="side-by-side",
        words="filling single lines, in turns with baselines if any",
        parts=(measure_side_by_side,),
    ),
    Section(name="typing", words="typing", parts=(measure_typing,)),
    Section(name="editing", words="working on several files", parts=(measure_editing,)),
    Section(
        name="users",
        words="several users at once, cancelling, repeating requests",
        parts=(measure_users, measure_cancel, measure_determinism),
    ),
    Section(name="memory", words="reading longer and longer files", parts=(measure_memory,)),
    Section(name="index", words="indexing a project", parts=(measure_index,)),
)
"""The first section leaves a warm engine for the others."""


async def run_sections(
    sections: Sequence[Section],
    *,
    options: FillOptions,
    repeats: int,
    baselines: Sequence[Baseline],
    on_progress: Callable[[str, float], None],
) -> AsyncIterator[Sequence[Figure]]:
    """Yield the figures of each part. Engine and baselines are ended with the last."""
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
                yield await measure(bench)
