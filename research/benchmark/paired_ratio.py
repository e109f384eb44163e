"""Compare the times of two systems on the same holes by the mean ratio of the pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia_research.evaluation.intervals import Estimate, Resampling


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedPair:
    """The times for one hole that both filled. Holes of one ``group`` are not independent."""

    group: str
    ms: float
    other_ms: float
    is_same_text: bool


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
