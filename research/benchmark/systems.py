"""The systems of the benchmark: our engine and baselines, asked to fill the same hole.

All get the same context, stop texts and token limit: no system is timed on text that is thrown
away. Answers are raw: not cleaned, and the first one counts.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Protocol

import msgspec

from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.plan import FillOptions, FillPlan
from intarsia_research.benchmark.figures import Bench
from intarsia_research.evaluation.answer import Answer, failed
from intarsia_research.evaluation.systems.baseline import answer_of, cut_at_stop, prompt_of
from intarsia_research.evaluation.systems.baseline_program import NoAnswer, Program

OURS = "intarsia"


class BenchSystem(Protocol):
    """A system that is ready. ``pid``: the process that runs its model."""

    @property
    def name(self) -> str: ...

    @property
    def pid(self) -> int: ...

    async def fill(self, plan: FillPlan) -> Answer: ...


@asynccontextmanager
async def start_systems(bench: Bench) -> AsyncIterator[list[BenchSystem]]:
    """Start all systems, ours first. Raise EvaluationFault if a baseline cannot be started."""
    async with AsyncExitStack() as stack:
        status = await bench.client.preload(bench.options.model)
        ready: list[BenchSystem] = [OwnEngine(bench.client, bench.options, pid=status.pid)]
        for baseline in bench.baselines:
            program = await stack.enter_async_context(baseline.running())
            ready.append(BaselineRunner(baseline.name, program))
        yield ready


class OwnEngine:
    """Our engine."""

    name = OURS

    def __init__(self, client: EngineClient, options: FillOptions, *, pid: int) -> None:
        self._client = client
        self._options = replace(
            options, max_tokens=None
        )  # the plan has the limit, the same for all systems
        self.pid = pid

    async def fill(self, plan: FillPlan) -> Answer:
        request = plan.request(self._options)
        started = time.perf_counter()
        filled = await self._client.fill(request)
        return Answer(
            text=filled.text,
            reason=None,
            ms=1000 * (time.perf_counter() - started),
            engine_ms=filled.ms.total,
            read_ms=filled.ms.prefill,
            num_forwards=filled.num_forwards,
            num_tokens=len(filled.tokens),
            num_read=filled.num_prefilled,
            num_reused=filled.num_reused,
        )


class BaselineRunner:
    """A baseline's running program."""

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self._program = program
        self.pid = program.pid

    async def fill(self, plan: FillPlan) -> Answer:
        prompt = msgspec.structs.replace(prompt_of(plan.canvas), keeps_context=True)
        started = time.perf_counter()
        try:
            written = await self._program.write(prompt)
        except NoAnswer as failure:
            return failed(str(failure), 1000 * (time.perf_counter() - started))
        text = cut_at_stop(written.text, prompt.stop)
        return answer_of(written, text, ms=1000 * (time.perf_counter() - started))


def plain_name(name: str) -> str:
    """Return a system's name as used in the names of figures."""
    return name.replace(".", "_")
