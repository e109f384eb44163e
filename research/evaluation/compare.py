"""Compare two runs, or two systems of one run, hole by hole: is the difference more than noise?

Only holes that both sides have met are compared.
"""

import math
from collections.abc import Callable, Sequence

import msgspec

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.figures import CaseKey, group_of, key_of
from intarsia.research.evaluation.intervals import Estimate, Resampling
from intarsia.research.evaluation.record import Row, Run

RowPair = tuple[Row, Row]


class PairedShare(msgspec.Struct, frozen=True, kw_only=True):
    """How often something is true of the answers of each side to the same holes."""

    of: int
    first: float
    second: float
    only_first: int
    only_second: int
    difference: Estimate  # second minus first
    p: float  # exact two-sided McNemar test: probability of so uneven a split by chance


class PairedMean(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of a number over the answers of each side to the same holes."""

    of: int
    first: float
    second: float
    difference: Estimate  # second minus first


class Discordant(msgspec.Struct, frozen=True, kw_only=True):
    """A hole that only one side filled correctly, by exact match or by its test."""

    case: str
    set: str
    kind: str
    language: str
    figure: str  # "exact" or "pass@1"
    is_right_in_second: bool
    truth: str
    first: str
    second: str


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two sides."""

    pairs: int
    left_out_of_first: int  # holes of the first side that the second side lacks
    left_out_of_second: int
    changed: int  # holes with the same id and another text: also left out
    exact: PairedShare
    pass_at_1: PairedShare | None
    named: PairedShare | None
    similarity: PairedMean
    num_forwards: PairedMean | None
    ms: PairedMean | None
    discordant: tuple[Discordant, ...]


def rows_of(run: Run, system: str | None) -> list[Row]:
    """Return the rows of a system, by default the first. Raise EvaluationFault if it has none."""
    names = [info.name for info in run.systems]
    name = system or (names[0] if names else None)
    rows = [row for row in run.rows if row.system == name]
    if not rows:
        raise EvaluationFault(
            f"this run has no rows of a system {name!r}: it has {', '.join(names) or 'none'}"
        )
    return rows


def compare(first: Sequence[Row], second: Sequence[Row]) -> Comparison:
    """Compare two sides. Raise EvaluationFault if they have no hole in common."""
    before, after = _by_case(first), _by_case(second)
    common = [key for key in before if key in after]
    pairs = [(before[key], after[key]) for key in common if _is_same(before[key], after[key])]
    if not pairs:
        raise EvaluationFault(
            f"these runs have no hole in common ({len(common)} with the same id and another text): "
            "compare runs on the same sets and files, with the same seed"
        )
    drawn = Resampling([group_of(row) for row, _ in pairs])
    tested = [pair for pair in pairs if None not in map(_has_passed, pair)]
    with_name = [pair for pair in pairs if None not in map(_has_name, pair)]
    exact = _paired_share(pairs, _is_exact)
    assert exact, "there is a pair"
    similarity = _paired_mean(pairs, drawn, lambda row: row.judgement.similarity)
    assert similarity, "every answer has a similarity"
    return Comparison(
        pairs=len(pairs),
        left_out_of_first=len(before) - len(common),
        left_out_of_second=len(after) - len(common),
        changed=len(common) - len(pairs),
        exact=exact,
        pass_at_1=_paired_share(tested, lambda row: bool(_has_passed(row))),
        named=_paired_share(with_name, lambda row: bool(_has_name(row))),
        similarity=similarity,
        num_forwards=_paired_mean(pairs, drawn, lambda row: row.num_forwards),
        ms=_paired_mean(pairs, drawn, lambda row: None if row.is_failure else row.ms),
        discordant=(
            *_discordant(pairs, "exact", _is_exact),
            *_discordant(tested, "pass@1", lambda row: bool(_has_passed(row))),
        ),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of a split of discordant pairs, by the exact binomial test."""
    discordant = only_first + only_second
    tail = sum(math.comb(discordant, k) for k in range(min(only_first, only_second) + 1))
    p: float = 2 * tail / 2**discordant
    return min(1.0, p)


def _by_case(rows: Sequence[Row]) -> dict[CaseKey, Row]:
    return {key_of(row): row for row in rows}


def _is_same(one: Row, other: Row) -> bool:
    return (one.truth, one.before, one.after) == (other.truth, other.before, other.after)


def _paired_share(pairs: Sequence[RowPair], is_right: Callable[[Row], bool]) -> PairedShare | None:
    if not pairs:
        return None
    flags = [(is_right(one), is_right(other)) for one, other in pairs]
    only_first = sum(one and not other for one, other in flags)
    only_second = sum(other and not one for one, other in flags)
    drawn = Resampling([group_of(row) for row, _ in pairs])
    difference = drawn.mean([float(other) - float(one) for one, other in flags])
    assert difference, "there is a pair"
    return PairedShare(
        of=len(pairs),
        first=sum(one for one, _ in flags) / len(pairs),
        second=sum(other for _, other in flags) / len(pairs),
        only_first=only_first,
        only_second=only_second,
        difference=difference,
        p=mcnemar(only_first, only_second),
    )


def _paired_mean(
    pairs: Sequence[RowPair], drawn: Resampling, value: Callable[[Row], float | None]
) -> PairedMean | None:
    values = [(value(one), value(other)) for one, other in pairs]
    both = [(one, other) for one, other in values if one is not None and other is not None]
    difference = drawn.mean(
        [None if one is None or other is None else other - one for one, other in values]
    )
    if difference is None:
        return None
    return PairedMean(
        of=len(both),
        first=sum(one for one, _ in both) / len(both),
        second=sum(other for _, other in both) / len(both),
        difference=difference,
    )


def _discordant(
    pairs: Sequence[RowPair], figure: str, is_right: Callable[[Row], bool]
) -> list[Discordant]:
    return [
        Discordant(
            case=one.case,
            set=one.set,
            kind=one.kind,
            language=one.language,
            figure=figure,
            is_right_in_second=is_right(other),
            truth=one.truth,
            first=one.text,
            second=other.text,
        )
        for one, other in pairs
        if is_right(one) != is_right(other)
    ]


def _is_exact(row: Row) -> bool:
    return row.judgement.is_exact and not row.is_failure


def _has_passed(row: Row) -> bool | None:
    return row.judgement.passed


def _has_name(row: Row) -> bool | None:
    is_named = row.judgement.is_named
    return None if is_named is None else is_named and not row.is_failure
