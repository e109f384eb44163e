"""A user who types beside users who never pause: how much longer the answers take.

The heavy users ask for 64 tokens at a place that was never read, and again as soon as they have
them. The light user types a few keys, asks, reads and types on.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.ipc.messages import Fill
from intarsia_research.benchmark.figures import Figure, percentile
from intarsia_research.errors import EvaluationFault
from intarsia_research.team_load.team_engine import TeamEngineProcess, team_engine
from intarsia_research.team_load.typed_files import TypedFiles
from intarsia_research.team_load.typing_users import Ask, Habits, asks_of

_HEAVY_TOKENS = 64
_SETTLE_S = 5.0
_PERCENTS = (50, 95)


@dataclass(frozen=True, kw_only=True, slots=True)
class BesideHeavy:
    """What is measured: ``seconds`` of typing, alone and beside ``num_heavy`` users, in turns."""

    model: str
    num_heavy: int = 7
    seconds: float = 60.0
    turns: int = 2
    seed: int = 0


async def measure_beside_heavy(options: BesideHeavy) -> Sequence[Figure]:
    """Measure in turns, with the same keys alone and beside the others. Raises EvaluationFault."""
    habits = Habits(place_s=1e9)  # all at one place
    alone: list[float] = []
    beside: list[float] = []
    num_heavy_fills = 0
    async with team_engine(options.model, options.num_heavy + 1) as engine:
        files = TypedFiles(options.seed)
        for turn in range(options.turns):
            asks = halts_of(options.seconds, habits, options.seed + turn)
            alone += await _typed(engine, files, asks)
            heavy = [
                asyncio.create_task(_ask_on(engine, user))
                for user in range(1, options.num_heavy + 1)
            ]
            await asyncio.sleep(_SETTLE_S)
            beside += await _typed(engine, files, asks)
            num_heavy_fills += sum(await _ended(heavy))
    if not alone or not beside:
        raise EvaluationFault("the user asked too seldom: take more seconds")
    return [
        *_waits("alone", "alone", alone),
        *_waits("beside", f"beside {options.num_heavy} heavy users", beside),
        *(_ratio(percent, alone, beside) for percent in _PERCENTS),
        Figure(
            name="heavy_fills",
            words="fills of the heavy users in this time",
            value=num_heavy_fills,
            unit="",
            method=f"{_HEAVY_TOKENS} tokens each, of a text that was not read before",
        ),
    ]


def halts_of(seconds: float, habits: Habits, seed: int) -> Sequence[Ask]:
    """Return the requests at halts only: an answer is new, not one that an earlier key brought."""
    return [ask for ask in asks_of(1, seconds, habits, seed) if ask.is_halt]


async def _typed(
    engine: TeamEngineProcess, files: TypedFiles, asks: Sequence[Ask]
) -> Sequence[float]:
    """Type; return the milliseconds waited at each halt but the first, which reads the file."""
    waited: list[float] = []
    begun = time.perf_counter()
    for ask in asks:
        await asyncio.sleep(max(0.0, begun + ask.at_s - time.perf_counter()))
        request = files.request(ask)
        if request is None:
            continue
        started = time.perf_counter()
        await engine.fill(0, request)
        waited.append(1000 * (time.perf_counter() - started))
        begun += waited[-1] / 1000  # the user looked, and typed on
    return waited[1:]


async def _ask_on(engine: TeamEngineProcess, user: int) -> int:
    """Ask until cancelled; return the number of answers."""
    chosen, num_answers = random.Random(user), 0
    try:
        while True:
            number = chosen.randrange(10**9)
            lines = [f"def step_{number}_{i}(value):\n    return value * {i}\n" for i in range(40)]
            prefix = "\n".join(lines) + f"\ndef total_{number}(values):\n    "
            request = Fill(id=0, prefix=prefix, suffix="\n", max_tokens=_HEAVY_TOKENS)
            await engine.fill(user, request)
            num_answers += 1
    except asyncio.CancelledError:
        return num_answers


async def _ended(tasks: Sequence[asyncio.Task[int]]) -> Sequence[int]:
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks)


def _waits(name: str, who: str, waited: Sequence[float]) -> Sequence[Figure]:
    return [
        Figure(
            name=f"{name}_p{percent}_ms",
            words=f"{who}: wait for an answer, p{percent}",
            value=percentile(waited, percent),
            unit="ms",
            method=f"{len(waited)} halts of the same keys; the context cached",
        )
        for percent in _PERCENTS
    ]


def _ratio(percent: int, alone: Sequence[float], beside: Sequence[float]) -> Figure:
    return Figure(
        name=f"beside_p{percent}_ratio",
        words=f"beside them, compared with alone, p{percent}",
        value=percentile(beside, percent) / percentile(alone, percent),
        unit="x",
        method="both in turns on one engine",
    )
