"""Measure several users at once on one engine: how long each waits, and whether fairly.

Each user has a connection and a file, types a line of it again and again, and asks after each key.
Only halts count: there the user reads the suggestion, so no key cancels the request. Every user is
also measured alone, with the same keys.
"""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.outcome import run_plan
from intarsia.infill.filling.plan import plan_fill
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import language_for_id
from intarsia_research.benchmark.editor.sources import CutLine, cut_lines
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.evaluation.intervals import percentile

NUM_USERS = 4
KEYS_PER_SECOND = 5.0
FEWEST_KEYS, MOST_KEYS = 3, 8
"""Range of the number of keys between two halts."""

HALT_S = 2.0
"""Median time that a user reads an answer before typing on."""

_SPREAD = 0.35  # standard deviation of the logarithm of a pause
_PERCENTS = (50, 95, 99)


@dataclass(frozen=True, kw_only=True, slots=True)
class UserKey:
    """One key of a line. After it, the first ``num_typed`` characters are there."""

    num_typed: int
    pause_s: float  # until the next key; at a halt: after the answer
    is_halt: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """One file and the keys typed in it."""

    line: CutLine
    keys: tuple[UserKey, ...]


async def measure_users(bench: Bench, *, pace: float = 1.0) -> Sequence[Figure]:
    """Measure four users alone, then two at once, then all. ``pace`` 2: twice as fast."""
    users = [
        User(
            line=line,
            keys=tuple(
                replace(key, pause_s=key.pause_s / pace)
                for key in keys_of(line, random.Random(number), bench.repeats)
            ),
        )
        for number, line in enumerate(cut_lines(NUM_USERS))
    ]
    alone = [(await _at_once(bench, [user]))[0] for user in users]
    two = await _at_once(bench, users[:2])
    four = await _at_once(bench, users)
    return [
        *_waits("users_1", "one user", alone, bench.repeats),
        *_waits("users_2", "two users at once", two, bench.repeats),
        *_waits("users_4", "four users at once", four, bench.repeats),
        *(
            figure
            for number, waited in enumerate(four, start=1)
            for figure in _waits(
                f"users_4_user_{number}", f"four users, user {number}", [waited], bench.repeats
            )
        ),
        _slower("users_2", "two users", two, alone[:2]),
        _slower("users_4", "four users", four, alone),
        _unfair(four, alone),
    ]


def keys_of(line: CutLine, chosen: random.Random, num_halts: int) -> Iterator[UserKey]:
    """Yield keys with ``num_halts`` halts; after the line's end it is typed again."""
    signs = _typed_signs(line.end - line.start)
    for _ in range(num_halts):
        num_keys = chosen.randint(FEWEST_KEYS, MOST_KEYS)
        for left, num_typed in enumerate(islice(signs, num_keys), start=1 - num_keys):
            pause_s = HALT_S if left == 0 else 1 / KEYS_PER_SECOND
            yield UserKey(
                num_typed=num_typed,
                pause_s=pause_s * chosen.lognormvariate(0.0, _SPREAD),
                is_halt=left == 0,
            )


def _typed_signs(length: int) -> Iterator[int]:
    while True:
        yield from range(1, length)  # after a whole line there is nothing to ask for


async def _at_once(bench: Bench, users: Sequence[User]) -> list[list[float]]:
    """Return, per user, the milliseconds waited at each halt."""
    async with asyncio.TaskGroup() as group:
        working = [group.create_task(_work(bench, user)) for user in users]
    return [task.result() for task in working]


async def _work(bench: Bench, user: User) -> list[float]:
    """Let the engine read the context, then type. Return the milliseconds waited at each halt."""
    waited_ms: list[float] = []
    async with EngineClient(name="bench", start=False, address=bench.address) as client:
        await _ask(bench, client, user.line, 0)
        for key in user.keys:
            if key.is_halt:
                waited_ms.append(await _ask(bench, client, user.line, key.num_typed))
                await asyncio.sleep(key.pause_s)
                continue
            next_key = asyncio.create_task(asyncio.sleep(key.pause_s))
            with suppress(TimeoutError):
                async with asyncio.timeout(key.pause_s):
                    await _ask(bench, client, user.line, key.num_typed)
            await next_key
    return waited_ms


async def _ask(bench: Bench, client: EngineClient, line: CutLine, num_typed: int) -> float:
    """Ask for the rest of the line; return the milliseconds to its suggestion."""
    python = language_for_id("python")
    started = time.perf_counter()
    hole = hole_for_range(line.text, line.start + num_typed, line.end, python)
    plan = plan_fill(hole, bench.options)
    await run_plan(client.fill, plan, bench.options)
    return 1000 * (time.perf_counter() - started)


def _waits(name: str, who: str, waited: Sequence[Sequence[float]], num_halts: int) -> list[Figure]:
    all_ms = [ms for each in waited for ms in each]
    return [
        Figure(
            name=f"{name}_p{percent}_ms",
            words=f"{who}: wait for an answer, p{percent}",
            value=percentile(all_ms, percent),
            unit="ms",
            method=f"{num_halts} halts a user, each after {FEWEST_KEYS} to {MOST_KEYS} keys, "
            f"{KEYS_PER_SECOND:g} a second, and {HALT_S:g} s before the next; the context cached",
        )
        for percent in _PERCENTS
    ]


def _slower(
    name: str, who: str, together: Sequence[Sequence[float]], alone: Sequence[Sequence[float]]
) -> Figure:
    pooled = [[ms for each in waited for ms in each] for waited in (together, alone)]
    return Figure(
        name=f"{name}_p50_ratio",
        words=f"{who} at once, compared with each alone",
        value=percentile(pooled[0], 50) / percentile(pooled[1], 50),
        unit="x",
        method="p50 of all their waits over that of the same users one after the other",
    )


def _unfair(together: Sequence[Sequence[float]], alone: Sequence[Sequence[float]]) -> Figure:
    ratios = [
        percentile(waited, 50) / percentile(own, 50)
        for waited, own in zip(together, alone, strict=True)
    ]
    return Figure(
        name="users_4_worst_to_best",
        words="four users: the most slowed down over the least slowed down",
        value=max(ratios) / min(ratios),
        unit="x",
        method="ratio of p50 at once to p50 alone, of each user; 1: all are equally slow",
    )
