"""Compare two runs of holes, or two systems of one run."""

from collections.abc import Callable, Iterator, Sequence

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.compare import Comparison, Discordant, Pairs
from intarsia_research.evaluation.figures import group_of, key_of
from intarsia_research.evaluation.record import Row, Run


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


def compare_fills(first: Sequence[Row], second: Sequence[Row]) -> Comparison:
    """Compare two sides. Raise EvaluationFault if they have no hole in common."""
    paired = Pairs(
        first,
        second,
        key=key_of,
        group=group_of,
        text=lambda row: (row.truth, row.before, row.after),
        cases="hole",
    )
    is_many = len({row.set for row, _ in paired.pairs}) > 1
    shares = {
        "exact": paired.share(_is_exact),
        "named": paired.share(
            lambda row: bool(_has_name(row)), lambda pair: None not in map(_has_name, pair)
        ),
        "pass@1": paired.share(lambda row: bool(row.judgement.passed), _are_tested),
    }
    means = {
        "similar": paired.mean(lambda row: row.judgement.similarity),
        "forward passes": paired.mean(lambda row: row.num_forwards),
        "ms": paired.mean(lambda row: None if row.is_failure else row.ms),
    }
    tested = list(filter(_are_tested, paired.pairs))
    discordant = [
        *_discordant(paired.pairs, "exact", _is_exact, is_many),
        *_discordant(tested, "pass@1", lambda row: bool(row.judgement.passed), is_many),
    ]
    return paired.compared(shares, means, discordant)


def _discordant(
    pairs: Sequence[tuple[Row, Row]],
    figure: str,
    is_right: Callable[[Row], bool],
    is_many: bool,
) -> Iterator[Discordant]:
    for one, other in pairs:
        if is_right(one) != is_right(other):
            yield Discordant(
                case=f"{one.set}: {one.case}" if is_many else one.case,
                kind=one.kind,
                language=one.language,
                figure=figure,
                is_right_in_second=is_right(other),
                truth=one.truth,
                wrong=one.text if is_right(other) else other.text,
            )


def _is_exact(row: Row) -> bool:
    return row.judgement.is_exact and not row.is_failure


def _are_tested(pair: tuple[Row, Row]) -> bool:
    return all(row.judgement.passed is not None for row in pair)


def _has_name(row: Row) -> bool | None:
    is_named = row.judgement.is_named
    return None if is_named is None else is_named and not row.is_failure
