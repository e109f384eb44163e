"""How soon the engine is ready for the next request once a fill was cancelled.

Fills are cancelled at random times, while they read their context and while they write; the next
request is sent right behind. What it waits for beyond its own work is the time to be ready.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill
from intarsia.infill.canvas.canvas import Budget
from intarsia.research.benchmark.figures import Bench, Figure, percentile
from intarsia.research.benchmark.side_by_side import plan_line
from intarsia.research.benchmark.sources import cut_lines

CANCELS_A_HOLE = 6

_MOST_HOLES = 4
_BUDGET = Budget(prefix_tokens=768, suffix_tokens=192)
_SEED = 7


async def measure_cancel(bench: Bench) -> Sequence[Figure]:
    """Cancel some fills of each of so many holes."""
    options = replace(bench.options, budget=_BUDGET)
    chosen, ready_after = random.Random(_SEED), {"writing": list[float](), "reading": list[float]()}
    pass_ms = []
    for line in cut_lines(min(bench.repeats, _MOST_HOLES)):
        request = msgspec.structs.replace(
            plan_line(line, options).request(options), stop=(), max_tokens=64
        )
        cold = await bench.client.fill(_unseen(request, chosen))
        await bench.client.fill(request)  # its context is held from here on
        warm = await bench.client.fill(request)
        pass_ms.append(warm.ms.denoise / max(1, warm.num_forwards))
        for _ in range(CANCELS_A_HOLE):
            wait_s = chosen.uniform(0, warm.ms.denoise) / 1000
            ready_after["writing"].append(await _cancel(bench.client, request, request, wait_s))
            wait_s = chosen.uniform(0, cold.ms.prefill) / 1000
            ready_after["reading"].append(
                await _cancel(bench.client, _unseen(request, chosen), request, wait_s)
            )
    return [
        Figure(
            name="cancel_pass_ms",
            words="a pass of these fills",
            value=percentile(pass_ms, 50),
            unit="ms",
            method=f"time to write over passes; median of {len(pass_ms)} fills that were not "
            "cancelled",
        ),
        *(
            Figure(
                name=f"cancel_{kind}_p{percent}_ms",
                words=f"cancel to ready, {kind}, p{percent}",
                value=percentile(waits, percent),
                unit="ms",
                method=f"{len(waits)} fills cancelled at random while {kind}: what the next "
                "request waits for beyond its own work",
            )
            for kind, waits in ready_after.items()
            for percent in (50, 99)
        ),
    ]


async def _cancel(client: EngineClient, running: Fill, following: Fill, wait_s: float) -> float:
    """Start one fill, cancel it after so long, ask at once for the next; return the milliseconds
    that this one waited for the other to end."""
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
    """Return the request with a context that begins like no other."""
    return msgspec.structs.replace(request, prefix=f"# {chosen.random()}\n{request.prefix}")
