"""Measure how soon the engine is ready for the next request after a fill was cancelled.

Fills are cancelled at random times, during their prefill and during their decoding, and the next
request is sent at once. The figure is its waiting time beyond its own work.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import msgspec

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill
from intarsia.infill.canvas import Budget
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.side_by_side import plan_line
from intarsia_research.evaluation.intervals import percentile

CANCELS_A_HOLE = 6

_MOST_HOLES = 4
_BUDGET = Budget(prefix_tokens=768, suffix_tokens=192)
_SEED = 7


@dataclass(kw_only=True, slots=True)
class _Waits:
    """Milliseconds from a cancellation to a ready engine, and of a pass of these fills."""

    writing: list[float] = field(default_factory=list)
    reading: list[float] = field(default_factory=list)
    pass_ms: list[float] = field(default_factory=list)


async def measure_cancel(bench: Bench) -> Sequence[Figure]:
    """Cancel some fills of each of a few holes."""
    options = replace(bench.options, budget=_BUDGET)
    chosen, waits = random.Random(_SEED), _Waits()
    for line in cut_lines(min(bench.repeats, _MOST_HOLES)):
        request = msgspec.structs.replace(
            plan_line(line, options).request(options), stop=(), max_tokens=64
        )
        await _cancel_fills(bench.client, request, chosen, waits)
    return _figures(waits)


async def _cancel_fills(
    client: EngineClient, request: Fill, chosen: random.Random, waits: _Waits
) -> None:
    cold = await client.fill(_unseen(request, chosen))
    await client.fill(request)  # from here on its context is cached
    warm = await client.fill(request)
    waits.pass_ms.append(warm.ms.denoise / max(1, warm.num_forwards))
    for _ in range(CANCELS_A_HOLE):
        wait_s = chosen.uniform(0, warm.ms.denoise) / 1000
        waits.writing.append(await _cancel(client, request, request, wait_s))
        wait_s = chosen.uniform(0, cold.ms.prefill) / 1000
        waits.reading.append(await _cancel(client, _unseen(request, chosen), request, wait_s))


def _figures(waits: _Waits) -> list[Figure]:
    return [
        Figure(
            name="cancel_pass_ms",
            words="a pass of these fills",
            value=percentile(waits.pass_ms, 50),
            unit="ms",
            method="decoding time over forward passes; median of "
            f"{len(waits.pass_ms)} fills that were not cancelled",
        ),
        *(
            Figure(
                name=f"cancel_{kind}_p{percent}_ms",
                words=f"cancel to ready, {kind}, p{percent}",
                value=percentile(waits_ms, percent),
                unit="ms",
                method=f"{len(waits_ms)} fills cancelled at random while {kind}: what the next "
                "request waits for beyond its own work",
            )
            for kind, waits_ms in (("writing", waits.writing), ("reading", waits.reading))
            for percent in (50, 99)
        ),
    ]


async def _cancel(client: EngineClient, running: Fill, following: Fill, wait_s: float) -> float:
    """Cancel one fill after ``wait_s`` and request the next at once.

    Return the milliseconds that the next one waited for the cancelled one to end.
    """
    task = asyncio.ensure_future(client.fill(running))
    await asyncio.sleep(wait_s)
    task.cancel()
    cancelled_at = time.perf_counter()
    with suppress(asyncio.CancelledError):
        await task
    filled = await client.fill(msgspec.structs.replace(following, max_tokens=1))
    waited_ms = 1000 * (time.perf_counter() - cancelled_at)
    return max(0.0, waited_ms - (filled.ms.total - filled.ms.queue))


def _unseen(request: Fill, chosen: random.Random) -> Fill:
    """Return the request with a context that has a unique beginning."""
    return msgspec.structs.replace(request, prefix=f"# {chosen.random()}\n{request.prefix}")
