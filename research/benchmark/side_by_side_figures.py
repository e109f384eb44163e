"""Compute figures from the answers of several systems to the same holes.

Failures are left out of all times; a pair is a hole that both systems have answered.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia_research.benchmark.figures import Figure
from intarsia_research.benchmark.machine_energy import POWERCAP
from intarsia_research.benchmark.systems import plain_name
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.intervals import Estimate, Resampling, percentile

CacheState: TypeAlias = Literal["cold", "warm"]

_CACHE_STATES: Mapping[CacheState, str] = {
    "cold": "a context that is not cached",
    "warm": "the context cached, the same request again",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleAnswers:
    """The answers to one hole by system: the first, and those with the context cached."""

    group: str
    cold: Mapping[str, Answer]
    warm: Mapping[str, Sequence[Answer]]

    def answers(self, name: str, state: CacheState) -> list[Answer]:
        found = [self.cold[name]] if state == "cold" else self.warm[name]
        return [answer for answer in found if not answer.is_failure]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """All measurements. ``names``: ours first.

    ``others_share``: processor time of the systems that were not asked, over the waiting time.
    ``joules_per_fill`` None: the machine has no counter.
    """

    names: Sequence[str]
    holes: Sequence[HoleAnswers]
    resident_bytes: Mapping[str, int]
    joules_per_fill: Mapping[str, float] | None
    others_share: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedPair:
    """The times for one hole that both filled. Holes of one ``group`` are not independent."""

    group: str
    ms: float
    other_ms: float
    is_same_text: bool


def figures_of(measured: Measured) -> list[Figure]:
    """Return times, cost and memory of each system, then our ratio to each baseline."""
    figures = [figure for name in measured.names for figure in _of_one(measured, name)]
    ours, *baselines = measured.names
    for baseline in baselines:
        figures += _against(measured.holes, ours, baseline)
    return [
        *figures,
        Figure(
            name="side_others_share",
            words="processor time of systems not asked",
            value=100 * measured.others_share,
            unit="%",
            method="over the waiting time for the one asked: near 0, unless the machine was shared",
        ),
    ]


def pairs_of(
    holes: Sequence[HoleAnswers], ours: str, baseline: str, state: CacheState
) -> list[TimedPair]:
    """Pair the answers hole by hole: median time and first text of each system."""
    pairs = []
    for hole in holes:
        mine, others = hole.answers(ours, state), hole.answers(baseline, state)
        if mine and others:
            pair = TimedPair(
                group=hole.group,
                ms=percentile([it.ms for it in mine], 50),
                other_ms=percentile([it.ms for it in others], 50),
                is_same_text=is_same_line(mine[0].text, others[0].text),
            )
            pairs.append(pair)
    return pairs


def _of_one(measured: Measured, name: str) -> Iterator[Figure]:
    key = plain_name(name)
    for state, method in _CACHE_STATES.items():
        answers = [it for hole in measured.holes for it in hole.answers(name, state)]
        if answers:
            yield from _times(name, state, method, answers)
            yield _read_share(name, state, answers)
            if state == "warm":
                yield from _work(name, answers)
    yield Figure(
        name=f"side_{key}_resident_gb",
        words=f"{name}: memory",
        value=measured.resident_bytes[name] / 1e9,
        unit="GB",
        method="resident set of its process after all fills, mapped weights included",
    )
    joules = measured.joules_per_fill
    yield Figure(
        name=f"side_{key}_joules",
        words=f"{name}: energy of a warm fill",
        value=None if joules is None else joules[name],
        unit="J",
        method=f"no readable counter below {POWERCAP}"
        if joules is None
        else "mean energy of the whole processor during a fill",
    )


def _times(
    name: str, state: CacheState, method: str, answers: Sequence[Answer]
) -> Iterator[Figure]:
    for percent in (50, 95, 99):
        yield Figure(
            name=f"side_{plain_name(name)}_{state}_p{percent}_ms",
            words=f"{name}: a line, {state}, p{percent}",
            value=percentile([it.ms for it in answers], percent),
            unit="ms",
            method=f"{method}; {len(answers)} fills, request to answer",
        )


def _read_share(name: str, state: CacheState, answers: Sequence[Answer]) -> Figure:
    return Figure(
        name=f"side_{plain_name(name)}_{state}_read_share",
        words=f"{name}: prefill's share, {state}",
        value=100 * sum(it.read_ms or 0 for it in answers) / sum(it.ms for it in answers),
        unit="%",
        method="sum of the prefill times over the sum of all times",
    )


def _work(name: str, answers: Sequence[Answer]) -> Iterator[Figure]:
    key, num_forwards = plain_name(name), sum(it.num_forwards or 0 for it in answers)
    decode_ms = sum((it.engine_ms or it.ms) - (it.read_ms or 0) for it in answers)
    yield Figure(
        name=f"side_{key}_passes",
        words=f"{name}: forward passes a line",
        value=num_forwards / len(answers),
        unit="passes",
        method="mean, without the prefill",
    )
    yield Figure(
        name=f"side_{key}_tokens_per_pass",
        words=f"{name}: tokens a forward pass",
        value=sum(it.num_tokens or 0 for it in answers) / max(1, num_forwards),
        unit="tokens",
        method="all tokens over all forward passes",
    )
    yield Figure(
        name=f"side_{key}_pass_ms",
        words=f"{name}: a forward pass",
        value=decode_ms / num_forwards if num_forwards else None,
        unit="ms",
        method="engine time without the prefill over forward passes; sums of the warm fills",
    )
    num_tokens = sum(it.num_tokens or 0 for it in answers)
    yield Figure(
        name=f"side_{key}_token_ms",
        words=f"{name}: a token",
        value=decode_ms / num_tokens if num_tokens else None,
        unit="ms",
        method="the same time over the tokens of the text",
    )


def _against(holes: Sequence[HoleAnswers], ours: str, baseline: str) -> Iterator[Figure]:
    for state in _CACHE_STATES:
        pairs = pairs_of(holes, ours, baseline, state)
        same = [pair for pair in pairs if pair.is_same_text]
        if state == "warm":
            yield Figure(
                name=f"side_{plain_name(baseline)}_same_share",
                words=f"same text as {baseline}",
                value=100 * len(same) / len(pairs) if pairs else None,
                unit="%",
                method=f"first lines, apart from trailing blanks; {len(pairs)} holes",
            )
        for kind, chosen in (("all", pairs), ("same_text", same)):
            yield _ratio(baseline, state, kind, chosen)


def _ratio(baseline: str, state: CacheState, kind: str, pairs: Sequence[TimedPair]) -> Figure:
    found = mean_ratio(pairs)
    which = "holes" if kind == "all" else "holes with the same text"
    return Figure(
        name=f"ratio_{plain_name(baseline)}_{state}_{kind}",
        words=f"our time over {baseline}'s, {state}, {kind.replace('_', ' ')}",
        value=None if found is None else found.value,
        unit="",
        method=f"geometric mean of {len(pairs)} {which}, paired; 95 % bootstrap interval",
        bounds=None if found is None else (found.low, found.high),
    )


def mean_ratio(pairs: Sequence[TimedPair]) -> Estimate | None:
    """Return the geometric mean of ``ms / other_ms`` with a bootstrap interval; None: no pairs."""
    logs = [math.log(pair.ms / pair.other_ms) for pair in pairs]
    mean = Resampling([pair.group for pair in pairs]).mean(logs) if pairs else None
    if mean is None:
        return None
    low, value, high = (math.exp(it) for it in (mean.low, mean.value, mean.high))
    return Estimate(value=value, low=low, high=high, of=mean.of)


def is_same_line(text: str, other: str) -> bool:
    """Return whether the first lines are equal, apart from trailing blanks."""
    return _first_line(text) == _first_line(other)


def _first_line(text: str) -> str:
    return text.partition("\n")[0].rstrip()
