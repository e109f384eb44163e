"""From rows to figures: per set, system, kind and language. Pure arithmetic."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from intarsia.research.evaluation.intervals import Estimate, Resampling, mean_of_means
from intarsia.research.evaluation.record import Row

CaseKey = tuple[str, str]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One system on some cases. None: there is nothing to work it out from.

    Shares are of all cases, a failure being neither exact nor passed, except where said.
    """

    cases: int
    failures: int  # no answer at all
    exact: Estimate
    similarity: Estimate
    pass_at_1: Estimate | None  # of cases whose test was run
    parse_clean: Estimate | None  # of answers with text, in files without an error of their own
    suffix_duplicated: Estimate | None  # of answers with text
    empty: Estimate | None  # of cases that were no failure
    length_error: Estimate | None  # characters too many or too few, mean, of answers with text
    length_error_median: float | None  # characters too many (or, negative, too few)
    num_forwards: int
    forwards_to_first: Estimate | None  # over those of the first system, of cases that both count
    tokens: int
    tokens_per_forward: Estimate | None
    same_as_first: Estimate | None  # the same text as the first system's
    ms_p50: Estimate | None  # as the client waited
    ms_p95: Estimate | None
    engine_ms_p50: Estimate | None
    engine_ms_p95: Estimate | None
    decode_ms_p50: Estimate | None  # the engine's, without what it read of the context
    decode_ms_p95: Estimate | None
    mean_entropy: Estimate | None  # nats a token
    num_languages: int
    exact_by_language: Estimate | None  # mean over languages, each counting alike; None: only one
    pass_at_1_by_language: Estimate | None
    similarity_by_language: Estimate | None


class SystemFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One system on one set."""

    system: str
    whole: Figures
    by_kind: dict[str, Figures]
    by_language: dict[str, Figures]


class SetFigures(msgspec.Struct, frozen=True, kw_only=True):
    """All systems on one set; ``set`` None: on all sets together."""

    set: str | None
    cases: int
    systems: tuple[SystemFigures, ...]


def figures_of(rows: Sequence[Row]) -> tuple[SetFigures, ...]:
    """Return the figures of every set in the order of the rows, then of all if there are several.

    The system of the first row is the one that the others are compared with.
    """
    sets = list(dict.fromkeys(row.set for row in rows))
    scopes = [*sets, None] if len(sets) > 1 else sets
    names = list(dict.fromkeys(row.system for row in rows))
    return tuple(
        _set_figures(name, [row for row in rows if name in (None, row.set)], names)
        for name in scopes
    )


def key_of(row: Row) -> CaseKey:
    """Return what tells a row's case from all others."""
    return row.set, row.case


def group_of(row: Row) -> str:
    """Return what a row shares with those that are not independent of it."""
    return f"{row.set}\n{row.group}"


def _set_figures(name: str | None, rows: Sequence[Row], systems: Sequence[str]) -> SetFigures:
    by_system = _divided(rows, lambda row: row.system)
    first = {key_of(row): row for row in by_system.get(systems[0], ())}
    return SetFigures(
        set=name,
        cases=len({key_of(row) for row in rows}),
        systems=tuple(
            SystemFigures(
                system=system,
                whole=_figures(own, first),
                by_kind=_figures_by(own, first, lambda row: row.kind),
                by_language=_figures_by(own, first, lambda row: row.language),
            )
            for system in systems
            if (own := by_system.get(system))
        ),
    )


def _figures_by(
    rows: Sequence[Row], first: Mapping[CaseKey, Row], part: Callable[[Row], str]
) -> dict[str, Figures]:
    return {name: _figures(own, first) for name, own in sorted(_divided(rows, part).items())}


def _divided(rows: Sequence[Row], part: Callable[[Row], str]) -> dict[str, list[Row]]:
    divided: dict[str, list[Row]] = {}
    for row in rows:
        divided.setdefault(part(row), []).append(row)
    return divided


def _figures(rows: Sequence[Row], first: Mapping[CaseKey, Row]) -> Figures:
    drawn = Resampling([group_of(row) for row in rows])
    firsts = [first.get(key_of(row)) for row in rows]
    languages = list(_divided(rows, lambda row: row.language).values())
    errors = [_length_error(row) for row in rows]
    ms = drawn.percentiles([None if row.is_failure else row.ms for row in rows], (50, 95))
    engine_ms = drawn.percentiles([row.engine_ms for row in rows], (50, 95))
    decode_ms = drawn.percentiles([_decode_ms(row) for row in rows], (50, 95))
    exact = drawn.share([_is_exact(row) for row in rows])
    similarity = drawn.mean([_similarity(row) for row in rows])
    assert exact and similarity, "a part of the rows is never empty"
    return Figures(
        cases=len(rows),
        failures=sum(row.is_failure for row in rows),
        exact=exact,
        similarity=similarity,
        pass_at_1=drawn.share([row.judgement.passed for row in rows]),
        parse_clean=drawn.share([row.judgement.parses for row in rows]),
        suffix_duplicated=drawn.share(
            [row.judgement.duplicates_suffix if _has_text(row) else None for row in rows]
        ),
        empty=drawn.share([None if row.is_failure else row.judgement.is_empty for row in rows]),
        length_error=drawn.mean([None if error is None else abs(error) for error in errors]),
        length_error_median=_median([error for error in errors if error is not None]),
        num_forwards=sum(row.num_forwards or 0 for row in rows),
        forwards_to_first=drawn.ratio(
            [row.num_forwards for row in rows],
            [None if before is None else before.num_forwards for before in firsts],
        ),
        tokens=sum(row.num_tokens or 0 for row in rows),
        tokens_per_forward=drawn.ratio(
            [row.num_tokens for row in rows], [row.num_forwards for row in rows]
        ),
        same_as_first=drawn.share(
            [
                None if before is None else _is_same(row, before)
                for row, before in zip(rows, firsts, strict=True)
            ]
        ),
        ms_p50=ms[0],
        ms_p95=ms[1],
        engine_ms_p50=engine_ms[0],
        engine_ms_p95=engine_ms[1],
        decode_ms_p50=decode_ms[0],
        decode_ms_p95=decode_ms[1],
        mean_entropy=drawn.mean([row.mean_entropy for row in rows]),
        num_languages=len(languages),
        exact_by_language=_by_language(languages, _is_exact),
        pass_at_1_by_language=_by_language(languages, lambda row: row.judgement.passed),
        similarity_by_language=_by_language(languages, _similarity),
    )


def _by_language(
    languages: Sequence[Sequence[Row]], value: Callable[[Row], float | None]
) -> Estimate | None:
    """Return the mean of the languages' means, of those that have any value."""
    drawn, means, num_cases = [], [], 0
    for rows in languages:
        values = [value(row) for row in rows]
        known = [one for one in values if one is not None]
        if known:
            drawn.append(Resampling([group_of(row) for row in rows]).drawn_means(values))
            means.append(sum(known) / len(known))
            num_cases += len(known)
    return mean_of_means(drawn, means, num_cases) if len(means) > 1 else None


def _is_exact(row: Row) -> bool:
    return row.judgement.is_exact and not row.is_failure


def _similarity(row: Row) -> float:
    return 0.0 if row.is_failure else row.judgement.similarity


def _has_text(row: Row) -> bool:
    return not row.is_failure and not row.judgement.is_empty


def _is_same(row: Row, first: Row) -> bool:
    return row.text == first.text and row.is_failure == first.is_failure


def _length_error(row: Row) -> int | None:
    return row.judgement.length_error if _has_text(row) else None


def _decode_ms(row: Row) -> float | None:
    return None if row.engine_ms is None or row.read_ms is None else row.engine_ms - row.read_ms


def _median(values: Sequence[int]) -> float | None:
    return float(np.median(values)) if values else None
