"""How much sooner one is than another on the same holes: the ratio of each pair, and their mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.research.evaluation.intervals import Estimate, Resampling


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One hole that both filled. ``group``: holes of one group are not independent."""

    group: str
    ms: float
    other_ms: float
    is_same_text: bool


def mean_ratio(pairs: Sequence[Pair]) -> Estimate | None:
    """Return the geometric mean of first over other, with a bootstrap interval; None of none."""
    logs = [math.log(pair.ms / pair.other_ms) for pair in pairs]
    mean = Resampling([pair.group for pair in pairs]).mean(logs) if pairs else None
    if mean is None:
        return None
    low, value, high = (math.exp(it) for it in (mean.low, mean.value, mean.high))
    return Estimate(value=value, low=low, high=high, of=mean.of)


def is_same_line(text: str, other: str) -> bool:
    """Compare first lines, but for blanks at their ends."""
    return _first_line(text) == _first_line(other)


def _first_line(text: str) -> str:
    return text.partition("\n")[0].rstrip()
