"""Compute the figures of a run from its rows: per set, system, kind of hole and language."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from intarsia_research.evaluation.intervals import Estimate, Resampling, mean_of_means
from intarsia_research.evaluation.record import Row

CaseKey = tuple[str, str]


class Changes(msgspec.Struct, frozen=True):
    """How many cases a system has right and the first system wrong, and the other way round."""

    won: int
    lost: int


class ContextFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What the model has read, and what that changes against the first system."""

    exact: Changes
    named: Changes
    read: Estimate | None  # mean of the context tokens that a fill used, read for it or cached
    read_project: Estimate | None  # mean of those of other files
    read_ms_p50: Estimate | None


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One system on some cases. None: no case has the value that the figure needs.

    Shares are of all cases, unless said otherwise; a failure is neither exact nor passed.
    """

    cases: int
    failures: int  # cases without an answer
    exact: Estimate
    similarity: Estimate
    pass_at_1: Estimate | None  # of cases with a test that was run
    named: Estimate | None  # of cases with a name that another file defines
    parse_clean: Estimate | None  # of answers with text, in files without syntax errors
    suffix_duplicated: Estimate | None  # of answers with text
    empty: Estimate | None  # of cases that did not fail
    length_error: Estimate | None  # mean of characters too many or too few, of answers with text
    length_error_median: float | None  # characters too many (negative: too few)
    num_forwards: int
    forwards_to_first: Estimate | None  # ratio to the first system's, of cases that both count
    tokens: int
    tokens_per_forward: Estimate | None
    context: ContextFigures
    same_as_first: Estimate | None  # the same text as the first system's
    ms_p50: Estimate | None  # as the client waited
    ms_p95: Estimate | None
    engine_ms_p50: Estimate | None
    engine_ms_p95: Estimate | None
    decode_ms_p50: Estimate | None  # the engine's time without the prefill
    decode_ms_p95: Estimate | None
    mean_entropy: Estimate | None  # nats per token
    num_languages: int
    exact_by_language: Estimate | None  # unweighted mean over languages; None: only one language
    pass_at_1_by_language: Estimate | None
    similarity_by_language: Estimate | None


class SystemFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One system on one set."""

    system: str
    whole: Figures
    by_kind: dict[str, Figures]
    by_language: dict[str, Figures]


class SetFigures(msgspec.Struct, frozen=True, kw_only=True):
    """All systems on one set; ``set`` None: all sets together."""

    set: str | None
    cases: int
    systems: tuple[SystemFigures, ...]


def figures_of(rows: Sequence[Row]) -> tuple[SetFigures, ...]:
    """Return the figures of every set in the order of the rows, then of all sets together.

    The other systems are compared with the system of the first row.
    """
    sets = list(dict.fromkeys(row.set for row in rows))
    scopes = [*sets, None] if len(sets) > 1 else sets
    names = list(dict.fromkeys(row.system for row in rows))
    return tuple(
        _set_figures(name, [row for row in rows if name in (None, row.set)], names)
        for name in scopes
    )


def key_of(row: Row) -> CaseKey:
    """Return the key of a row's case, unique in a run."""
    return row.set, row.case


def group_of(row: Row) -> str:
    """Return the key that a row shares with the rows that are not independent of it."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sample:
    """Some rows of one system, the first system's row for each, and their resampling."""

    rows: Sequence[Row]
    first: Sequence[Row | None]
    resampling: Resampling

    def share(self, flag: Callable[[Row], bool | None]) -> Estimate | None:
        return self.resampling.share([flag(row) for row in self.rows])

    def mean(self, value: Callable[[Row], float | None]) -> Estimate | None:
        return self.resampling.mean([value(row) for row in self.rows])

    def percentiles(self, value: Callable[[Row], float | None]) -> list[Estimate | None]:
        """Return the 50th and the 95th percentile."""
        return self.resampling.percentiles([value(row) for row in self.rows], (50, 95))

    def tokens_per_forward(self) -> Estimate | None:
        return self.resampling.ratio(
            [row.num_tokens for row in self.rows], [row.num_forwards for row in self.rows]
        )

    def forwards_to_first(self) -> Estimate | None:
        return self.resampling.ratio(
            [row.num_forwards for row in self.rows],
            [None if first is None else first.num_forwards for first in self.first],
        )

    def changes(self, flag: Callable[[Row], bool | None]) -> Changes:
        both = zip(self.rows, self.first, strict=True)
        pairs = [(flag(row), flag(first)) for row, first in both if first is not None]
        return Changes(
            won=sum(bool(own) and first is False for own, first in pairs),
            lost=sum(own is False and bool(first) for own, first in pairs),
        )

    def same_as_first(self) -> Estimate | None:
        pairs = zip(self.rows, self.first, strict=True)
        return self.resampling.share(
            [None if first is None else _is_same(row, first) for row, first in pairs]
        )


def _figures(rows: Sequence[Row], first: Mapping[CaseKey, Row]) -> Figures:
    sample = _sample_of(rows, first)
    languages = list(_divided(rows, lambda row: row.language).values())
    ms, engine_ms = sample.percentiles(_waited_ms), sample.percentiles(lambda row: row.engine_ms)
    decode_ms = sample.percentiles(_decode_ms)
    exact, similarity = sample.share(_is_exact), sample.mean(_similarity)
    assert exact and similarity, "a part is never empty"
    return Figures(
        cases=len(rows),
        failures=sum(row.is_failure for row in rows),
        exact=exact,
        similarity=similarity,
        pass_at_1=sample.share(_has_passed),
        named=sample.share(_has_name),
        parse_clean=sample.share(lambda row: row.judgement.parses),
        suffix_duplicated=sample.share(_duplicates_suffix),
        empty=sample.share(_is_empty),
        length_error=sample.mean(_length_off),
        length_error_median=_median(rows),
        num_forwards=sum(row.num_forwards or 0 for row in rows),
        forwards_to_first=sample.forwards_to_first(),
        tokens=sum(row.num_tokens or 0 for row in rows),
        tokens_per_forward=sample.tokens_per_forward(),
        context=_context_figures(sample),
        same_as_first=sample.same_as_first(),
        ms_p50=ms[0],
        ms_p95=ms[1],
        engine_ms_p50=engine_ms[0],
        engine_ms_p95=engine_ms[1],
        decode_ms_p50=decode_ms[0],
        decode_ms_p95=decode_ms[1],
        mean_entropy=sample.mean(lambda row: row.mean_entropy),
        num_languages=len(languages),
        exact_by_language=_by_language(languages, _is_exact),
        pass_at_1_by_language=_by_language(languages, _has_passed),
        similarity_by_language=_by_language(languages, _similarity),
    )


def _sample_of(rows: Sequence[Row], first: Mapping[CaseKey, Row]) -> _Sample:
    return _Sample(
        rows=rows,
        first=[first.get(key_of(row)) for row in rows],
        resampling=Resampling([group_of(row) for row in rows]),
    )


def _context_figures(sample: _Sample) -> ContextFigures:
    return ContextFigures(
        exact=sample.changes(_is_exact),
        named=sample.changes(_has_name),
        read=sample.mean(_num_context),
        read_project=sample.mean(lambda row: row.num_project),
        read_ms_p50=sample.percentiles(lambda row: row.read_ms)[0],
    )


def _by_language(
    languages: Sequence[Sequence[Row]], value: Callable[[Row], float | None]
) -> Estimate | None:
    """Return the mean of the means of the languages that have a value; None if only one has."""
    drawn, means, num_cases = [], [], 0
    for rows in languages:
        values = [value(row) for row in rows]
        known = [number for number in values if number is not None]
        if known:
            drawn.append(Resampling([group_of(row) for row in rows]).drawn_means(values))
            means.append(sum(known) / len(known))
            num_cases += len(known)
    return mean_of_means(drawn, means, num_cases) if len(means) > 1 else None


def _is_exact(row: Row) -> bool:
    return row.judgement.is_exact and not row.is_failure


def _similarity(row: Row) -> float:
    return 0.0 if row.is_failure else row.judgement.similarity


def _has_passed(row: Row) -> bool | None:
    return row.judgement.passed


def _has_name(row: Row) -> bool | None:
    is_named = row.judgement.is_named
    return None if is_named is None else is_named and not row.is_failure


def _has_text(row: Row) -> bool:
    return not row.is_failure and not row.judgement.is_empty


def _duplicates_suffix(row: Row) -> bool | None:
    return row.judgement.duplicates_suffix if _has_text(row) else None


def _is_empty(row: Row) -> bool | None:
    return None if row.is_failure else row.judgement.is_empty


def _is_same(row: Row, first: Row) -> bool:
    return row.text == first.text and row.is_failure == first.is_failure


def _length_error(row: Row) -> int | None:
    return row.judgement.length_error if _has_text(row) else None


def _length_off(row: Row) -> int | None:
    error = _length_error(row)
    return None if error is None else abs(error)


def _median(rows: Sequence[Row]) -> float | None:
    errors = [error for row in rows if (error := _length_error(row)) is not None]
    return float(np.median(errors)) if errors else None


def _num_context(row: Row) -> int | None:
    """Return the number of context tokens, whether they were read for this fill or before it."""
    if row.num_read is None or row.num_reused is None:
        return None
    return row.num_read + row.num_reused


def _waited_ms(row: Row) -> float | None:
    return None if row.is_failure else row.ms


def _decode_ms(row: Row) -> float | None:
    return None if row.engine_ms is None or row.read_ms is None else row.engine_ms - row.read_ms
