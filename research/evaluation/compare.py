"""Compare two runs, or two systems of one run, hole by hole: is the difference more than noise?

Only holes that both sides have met are compared.
"""

from collections.abc import Callable, Sequence

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.figures import CaseKey, group_of, key_of
from intarsia_research.evaluation.intervals import Resampling
from intarsia_research.evaluation.paired import (
    PairedMean,
    PairedShare,
    paired_mean,
    paired_share,
)
from intarsia_research.evaluation.record import Row, Run

RowPair = tuple[Row, Row]


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
    exact = _share(pairs, _is_exact)
    assert exact, "there is a pair"
    similarity = _mean(pairs, drawn, lambda row: row.judgement.similarity)
    assert similarity, "every answer has a similarity"
    return Comparison(
        pairs=len(pairs),
        left_out_of_first=len(before) - len(common),
        left_out_of_second=len(after) - len(common),
        changed=len(common) - len(pairs),
        exact=exact,
        pass_at_1=_share(tested, lambda row: bool(_has_passed(row))),
        named=_share(with_name, lambda row: bool(_has_name(row))),
        similarity=similarity,
        num_forwards=_mean(pairs, drawn, lambda row: row.num_forwards),
        ms=_mean(pairs, drawn, lambda row: None if row.is_failure else row.ms),
        discordant=(
            *_discordant(pairs, "exact", _is_exact),
            *_discordant(tested, "pass@1", lambda row: bool(_has_passed(row))),
        ),
    )


def _by_case(rows: Sequence[Row]) -> dict[CaseKey, Row]:
    return {key_of(row): row for row in rows}


def _is_same(one: Row, other: Row) -> bool:
    return (one.truth, one.before, one.after) == (other.truth, other.before, other.after)


def _share(pairs: Sequence[RowPair], is_right: Callable[[Row], bool]) -> PairedShare | None:
    flags = [(is_right(one), is_right(other)) for one, other in pairs]
    return paired_share(flags, [group_of(row) for row, _ in pairs])


def _mean(
    pairs: Sequence[RowPair], drawn: Resampling, value: Callable[[Row], float | None]
) -> PairedMean | None:
    return paired_mean([(value(one), value(other)) for one, other in pairs], drawn)


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
