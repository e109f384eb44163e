"""Differences between two sides that answered the same cases: shares with their test, and means."""

import math
from collections.abc import Sequence

import msgspec

from intarsia_research.evaluation.intervals import Estimate, Resampling


class PairedShare(msgspec.Struct, frozen=True, kw_only=True):
    """How often something is true of the answers of each side to the same cases."""

    of: int
    first: float
    second: float
    only_first: int
    only_second: int
    difference: Estimate  # second minus first
    p: float  # exact two-sided McNemar test: probability of so uneven a split by chance


class PairedMean(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of a number over the answers of each side to the same cases."""

    of: int
    first: float
    second: float
    difference: Estimate  # second minus first


def paired_share(pairs: Sequence[tuple[bool, bool]], groups: Sequence[str]) -> PairedShare | None:
    """Compare what is true of each side, case by case; None without a case.

    ``groups`` has the group of each case: whole groups are resampled.
    """
    if not pairs:
        return None
    only_first = sum(one and not other for one, other in pairs)
    only_second = sum(other and not one for one, other in pairs)
    difference = Resampling(groups).mean([float(other) - float(one) for one, other in pairs])
    assert difference, "there is a pair"
    return PairedShare(
        of=len(pairs),
        first=sum(one for one, _ in pairs) / len(pairs),
        second=sum(other for _, other in pairs) / len(pairs),
        only_first=only_first,
        only_second=only_second,
        difference=difference,
        p=mcnemar(only_first, only_second),
    )


def paired_mean(
    pairs: Sequence[tuple[float | None, float | None]], drawn: Resampling
) -> PairedMean | None:
    """Compare numbers of the cases in which both sides have one; None without such a case."""
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    difference = drawn.mean(
        [None if one is None or other is None else other - one for one, other in pairs]
    )
    if difference is None:
        return None
    return PairedMean(
        of=len(both),
        first=sum(one for one, _ in both) / len(both),
        second=sum(other for _, other in both) / len(both),
        difference=difference,
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of a split of discordant pairs, by the exact binomial test."""
    discordant = only_first + only_second
    tail = sum(math.comb(discordant, k) for k in range(min(only_first, only_second) + 1))
    p: float = 2 * tail / 2**discordant
    return min(1.0, p)
