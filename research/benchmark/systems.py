"""Who fills the benchmark's holes: our engine and its baselines, asked for the same hole.

All see the same text and have the same stop texts and the same most tokens, so that nobody is
measured on text that is thrown away. Raw: nothing is cleaned, no second answer is looked at.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Protocol

import msgspec

from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan
from intarsia.research.benchmark.figures import Bench
from intarsia.research.evaluation.answer import Answer
from intarsia.research.evaluation.systems.baseline import cut_at_stop, prompt_of
from intarsia.research.evaluation.systems.baseline_program import NoAnswer, Program
from intarsia.research.evaluation.systems.failures import failed

OURS = "intarsia"


class BenchSystem(Protocol):
    """One that is ready. ``pid``: the process that computes for it."""

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
    """Ours, by its client."""

    name = OURS

    def __init__(self, client: EngineClient, options: FillOptions, *, pid: int) -> None:
        self._client = client
        self._options = replace(options, max_tokens=None)  # as the plan says, to everyone
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
        return Answer(
            text=cut_at_stop(written.text, prompt.stop),
            reason=None,
            ms=1000 * (time.perf_counter() - started),
            engine_ms=written.ms,
            read_ms=written.read_ms,
            num_forwards=written.num_forwards,
            num_tokens=written.num_tokens,
            num_read=written.num_read,
            num_reused=written.num_reused,
        )


def plain_name(name: str) -> str:
    """Return a system's name as it stands in the names of figures."""
    return name.replace(".", "_")
