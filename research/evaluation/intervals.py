"""Estimate figures with 95 % confidence intervals, by bootstrap over groups of cases.

Cases of one group (a file, a problem) are not independent, so whole groups are resampled.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

NUM_RESAMPLES = 2000
NUM_RESAMPLES_OF_PERCENTILES = 1000
SEED = 20240607

_Z = 1.959963984540054  # of the normal distribution, two-sided 95 %
_LOW_HIGH = (2.5, 97.5)

Floats: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = Sequence[float | None] | Sequence[bool | None]
"""One value per case; None: the case is left out."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of ``of`` cases, with its 95 % confidence interval."""

    value: float
    low: float
    high: float
    of: int


class Resampling:
    """Bootstrap resamples of the same cases, drawn by group. Equal groups give equal resamples."""

    def __init__(self, groups: Sequence[str]) -> None:
        names = {name: index for index, name in enumerate(dict.fromkeys(groups))}
        self._group = np.array([names[name] for name in groups], dtype=np.int64)  # (cases,)
        self._num_groups = len(names)
        self._weights = _draw(self._num_groups)  # (resamples, groups): how often each was drawn
        self._has_repeats = self._num_groups < len(groups)

    def share(self, flags: Sequence[bool | None]) -> Estimate | None:
        """Estimate a share by Wilson's interval, which is valid at 0 and 1, too.

        If groups have several cases, it is widened to the bootstrap interval.
        """
        kept, values = _known(flags)
        if not len(kept):
            return None
        low, high = wilson(int(values.sum()), len(values))
        if self._has_repeats:
            drawn_low, drawn_high = _bounds(self.drawn_means(flags))
            low, high = min(low, drawn_low), max(high, drawn_high)
        return Estimate(value=float(values.mean()), low=low, high=high, of=len(values))

    def mean(self, values: Values) -> Estimate | None:
        """Estimate a mean."""
        kept, known = _known(values)
        if not len(kept):
            return None
        low, high = _bounds(self.drawn_means(values))
        return Estimate(value=float(known.mean()), low=low, high=high, of=len(known))

    def ratio(self, parts: Values, wholes: Values) -> Estimate | None:
        """Estimate the ratio of two sums over the cases that have both values."""
        both = [
            index
            for index, (part, whole) in enumerate(zip(parts, wholes, strict=True))
            if part is not None and whole is not None
        ]
        part, whole = _at(parts, both), _at(wholes, both)
        if not whole.sum():
            return None
        kept = np.array(both, dtype=np.int64)
        low, high = _bounds(self._drawn_ratios(kept, part, whole))
        value = float(part.sum() / whole.sum())
        return Estimate(value=value, low=low, high=high, of=len(both))

    def percentiles(
        self, values: Sequence[float | None], percents: Sequence[float]
    ) -> list[Estimate | None]:
        """Estimate percentiles; each is one of the values."""
        kept, known = _known(values)
        if not len(kept):
            return [None] * len(percents)
        order = np.argsort(known, kind="stable")
        ordered = known[order]
        # In each resample: how many drawn cases do not exceed each value.
        weights = self._weights[:NUM_RESAMPLES_OF_PERCENTILES].astype(np.int32)
        counts = np.cumsum(weights[:, self._group[kept[order]]], axis=1, dtype=np.int32)
        counts = counts[counts[:, -1] > 0]
        return [
            Estimate(
                value=percentile(ordered.tolist(), percent),
                low=low,
                high=high,
                of=len(ordered),
            )
            for percent in percents
            for low, high in [_bounds(ordered[_first_reaching(counts, percent)])]
        ]

    def drawn_means(self, values: Values) -> Floats:
        """Return the mean of every resample; NaN if none of its cases has a value."""
        kept, known = _known(values)
        return self._drawn_ratios(kept, known, np.ones_like(known))

    def _drawn_ratios(self, kept: npt.NDArray[np.int64], part: Floats, whole: Floats) -> Floats:
        groups = self._group[kept]
        parts = self._weights @ np.bincount(groups, weights=part, minlength=self._num_groups)
        wholes = self._weights @ np.bincount(groups, weights=whole, minlength=self._num_groups)
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn: Floats = np.where(wholes == 0, np.nan, parts / wholes)
        return drawn


def wilson(successes: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a share."""
    share, square = successes / of, _Z**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_of_means(drawn: Sequence[Floats], means: Sequence[float], of: int) -> Estimate:
    """Estimate the unweighted mean of the means of several parts, each resampled on its own."""
    low, high = _bounds(np.mean(np.stack(drawn), axis=0))
    return Estimate(value=float(np.mean(means)), low=low, high=high, of=of)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least ``percent`` % of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


@lru_cache(maxsize=32)
def _draw(num_groups: int) -> Floats:
    """Return how often each group was drawn, per resample. The array is shared: read only."""
    random = np.random.default_rng(SEED)
    shares = np.full(max(1, num_groups), 1 / max(1, num_groups))
    drawn: Floats = random.multinomial(num_groups, shares, size=NUM_RESAMPLES).astype(np.float64)
    return drawn


def _known(values: Values) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the indices of the cases with a value, and the values."""
    kept = [index for index, value in enumerate(values) if value is not None]
    return np.array(kept, dtype=np.int64), _at(values, kept)


def _at(values: Values, indices: Sequence[int]) -> Floats:
    return np.array([float(values[index] or 0) for index in indices], dtype=np.float64)


def _first_reaching(counts: npt.NDArray[np.int32], percent: float) -> npt.NDArray[np.int64]:
    """Return per row the first column with a count of at least ``percent`` % of the last one."""
    needed = np.ceil(counts[:, -1:] * percent / 100)
    first: npt.NDArray[np.int64] = np.argmax(counts >= np.maximum(needed, 1), axis=1)
    return first


def _bounds(drawn: npt.NDArray[Any]) -> tuple[float, float]:
    low, high = np.nanpercentile(drawn, _LOW_HIGH)
    return float(low), float(high)
