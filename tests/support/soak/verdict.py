"""Judges a soak: each criterion with its figure, its bound, and whether it holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from soak.asks import Answer
from soak.measures import Growth, growth
from soak.soaked import Soaked, more_than
from soak.stage import RULE_ROLES

MAX_RATIO = 1.2
MAX_GROWTH = 0.05
"""Share of its memory by which a process may grow in an hour, where noise does not hide it."""
SETTLES_S = 300.0
"""In this time the allocators and caches of a new process fill: it is left out."""
COUNTED = ("text", "nothing", "error")


@dataclass(frozen=True, kw_only=True, slots=True)
class Criterion:
    """``needs_hour``: a short run cannot tell, or only on an idle machine."""

    name: str
    figure: str
    bound: str
    holds: bool
    needs_hour: bool = False


def criteria(soaked: Soaked) -> list[Criterion]:
    """Return all criteria that can be judged in a soak of this length."""
    return [*_answers(soaked), *_left(soaked), *_speed(soaked), *_memory(soaked)]


def milliseconds(answers: Sequence[Answer], percent: float) -> float:
    """Return a percentile of the time to an answer, of requests that the client did not cancel."""
    took = [it.took_s for it in answers if it.outcome in COUNTED]
    return 1000 * float(np.percentile(took, percent)) if took else 0.0


def between(soaked: Soaked, start_s: float, end_s: float) -> list[Answer]:
    """Return the answers to requests of this part of the time, counted from the first fault."""
    first, last = soaked.began_s + start_s, soaked.began_s + end_s
    return [it for it in soaked.asks.answers if first <= it.asked_s < last]


def _none(name: str, found: Sequence[str]) -> Criterion:
    figure = str(len(found)) + "".join(f"; {it}" for it in found[:3])
    return Criterion(name=name, figure=figure, bound="0", holds=not found)


def _answers(soaked: Soaked) -> Iterator[Criterion]:
    asks, clients = soaked.asks, soaked.clients
    yield _none("stuck requests", asks.stuck)
    yield _none("texts that differ", [it for client in clients for it in client.diverged])
    yield _none("clients out of step at the end", soaked.out_of_step)
    yield _none("requests answered with an error of the protocol", list(asks.errors))
    num_empty = sum(it.outcome == "nothing" for it in asks.answers) - asks.num_replaced
    num_reasons = asks.reasons.total()
    yield Criterion(
        name="empty answers without a reason",
        figure=f"{max(0, num_empty - num_reasons)} of {num_empty}",
        bound="0",
        holds=num_reasons >= num_empty,
    )


def _left(soaked: Soaked) -> Iterator[Criterion]:
    more = more_than(soaked.rest_after, soaked.rest_before)
    yield _none("processes, open files or threads more than before", more)


def _speed(soaked: Soaked) -> Iterator[Criterion]:
    part_s = soaked.plan.num_compared * soaked.plan.every_s
    length_s = soaked.ended_s - soaked.began_s
    if length_s < 2 * part_s:
        return
    first = milliseconds(between(soaked, 0, part_s), 99)
    last = milliseconds(between(soaked, length_s - part_s, length_s), 99)
    if not first:
        return
    ratio = last / first
    yield Criterion(
        name="p99 of the last tenth / of the first",
        figure=f"{last:.0f} ms / {first:.0f} ms = {ratio:.2f}",
        bound=f"<= {MAX_RATIO}",
        holds=ratio <= MAX_RATIO,
        needs_hour=True,
    )


def _memory(soaked: Soaked) -> Iterator[Criterion]:
    for role in RULE_ROLES:
        samples = [it for it in soaked.samples.taken if it.role == role]
        if grown := growth(samples, SETTLES_S):
            yield _flat(role, grown)


def _flat(role: str, grown: Growth) -> Criterion:
    bound = MAX_GROWTH * grown.mean_bytes
    mib = 1 << 20
    return Criterion(
        name=f"memory of a process: {role}",
        figure=f"{grown.mean_bytes / mib:.0f} MiB, {grown.per_hour / mib:+.1f} MiB an hour"
        f" ({grown.low / mib:+.1f} to {grown.high / mib:+.1f})",
        bound=f"interval with 0, or below {bound / mib:.1f} MiB an hour",
        holds=grown.low <= 0 or grown.per_hour < bound,
        needs_hour=True,
    )
