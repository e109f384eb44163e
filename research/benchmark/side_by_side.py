"""Measure fills of the same single lines by us and by baselines, in turns.

At each hole every system is asked once with a new context, then a few times with the context
cached. One system computes at a time; the processor time of the others is measured as a check.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import psutil

from intarsia.infill.filling.plan import FillOptions, FillPlan, plan_fill
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import language_for_id
from intarsia_research.benchmark.editor.sources import CutLine, cut_lines
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.machine_energy import energy_meter
from intarsia_research.benchmark.side_by_side_figures import HoleAnswers, Measured, figures_of
from intarsia_research.benchmark.systems import BenchSystem, start_systems
from intarsia_research.evaluation.answer import Answer

WARM_TURNS = 3


async def measure_side_by_side(bench: Bench) -> Sequence[Figure]:
    """Fill the same lines with every system; with ours alone where there are no baselines."""
    async with start_systems(bench) as ready:
        turns = _Turns(ready)
        holes = [
            await turns.fill(plan_line(line, bench.options), line.file, number)
            for number, line in enumerate(cut_lines(bench.repeats))
        ]
        resident = {it.name: psutil.Process(it.pid).memory_info().rss for it in ready}
    return figures_of(
        Measured(
            names=tuple(it.name for it in ready),
            holes=holes,
            resident_bytes=resident,
            joules_per_fill=turns.joules_per_fill(),
            others_share=turns.others_s / max(1e-9, turns.waited_s),
        )
    )


def plan_line(line: CutLine, options: FillOptions) -> FillPlan:
    """Return the plan of a hole, the same for every system, with its token limit."""
    python = language_for_id("python")
    hole = hole_for_range(line.text, line.start, line.end, python)
    plan = plan_fill(hole, options)
    max_tokens = options.max_tokens or plan.canvas.max_tokens
    return replace(plan, canvas=replace(plan.canvas, max_tokens=max_tokens))


@dataclass(slots=True)
class _Spent:
    """The energy and number of one system's warm fills."""

    joules: float = 0.0
    num_fills: int = 0


class _Turns:
    """Asks one system after the other, in rotating order."""

    def __init__(self, ready: Sequence[BenchSystem]) -> None:
        self._ready = ready
        self._meter = energy_meter()
        self._spent = {it.name: _Spent() for it in ready}
        self.waited_s = 0.0
        self.others_s = 0.0  # processor time of the systems that were not asked

    async def fill(self, plan: FillPlan, group: str, number: int) -> HoleAnswers:
        answers: dict[str, list[Answer]] = {it.name: [] for it in self._ready}
        for turn in range(1 + WARM_TURNS):
            first = (number + turn) % len(self._ready)
            for system in [*self._ready[first:], *self._ready[:first]]:
                answer = await self._ask(system, plan, is_warm=turn > 0)
                answers[system.name].append(answer)
        return HoleAnswers(
            group=group,
            cold={name: found[0] for name, found in answers.items()},
            warm={name: found[1:] for name, found in answers.items()},
        )

    def joules_per_fill(self) -> dict[str, float] | None:
        """Return the whole machine's joules per warm fill; None if it has no counter."""
        if self._meter is None:
            return None
        return {name: it.joules / max(1, it.num_fills) for name, it in self._spent.items()}

    async def _ask(self, system: BenchSystem, plan: FillPlan, *, is_warm: bool) -> Answer:
        others = [psutil.Process(it.pid) for it in self._ready if it is not system]
        before = sum(map(_processor_seconds, others))
        if self._meter is not None:
            self._meter.joules()
        answer = await system.fill(plan)
        if self._meter is not None and is_warm:
            self._spent[system.name].joules += self._meter.joules()
            self._spent[system.name].num_fills += 1
        self.waited_s += answer.ms / 1000
        self.others_s += sum(map(_processor_seconds, others)) - before
        return answer


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
