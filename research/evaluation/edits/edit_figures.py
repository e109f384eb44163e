"""Computes the figures of a run of edits from its rows: for each level, whole and in parts.

Cases of one repository are not independent, so whole repositories are resampled.
"""

from collections.abc import Callable, Sequence

import msgspec

from intarsia_research.evaluation.edits.edit_record import EditRow, JudgedPlace
from intarsia_research.evaluation.edits.finder import LEVELS, Level
from intarsia_research.evaluation.edits.row_worth import (
    keys_needed,
    keys_saved,
    num_reached,
    place_shape,
)
from intarsia_research.evaluation.intervals import Estimate, Resampling

IN_OUR_CORPUS = frozenset(
    {"expressjs/express", "psf/requests", "gin-gonic/gin", "spf13/cobra", "colinhacks/zod"}
)
"""Repositories with a release that the bundled tuning was trained on, maybe with the answers."""

BACKBONE_SINCE = "2024-10"
"""Commits from this month on are after the text that the backbone was trained on."""


class LevelFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What is offered at one level: the first offer of each case. None: of no cases."""

    level: Level
    offers: int  # after edits
    exact: int
    precision: Estimate | None  # exact offers, of the offers after edits
    at_right_place: Estimate | None  # of the offers after edits
    edits_exact: Estimate | None  # edits with an exact offer
    false_on_controls: Estimate | None  # controls with an offer
    reached_after_right: Estimate | None  # places, in chains that a right offer began
    reached: Estimate | None  # places, of those in the windows of all edits
    keys_saved: Estimate | None  # of the keys that all places in the windows take


class PartFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of some cases. Shares are of edits with a further place in the window."""

    edits: int
    controls: int
    out_of_window: int  # edits without a further place there: left out
    failures: int  # cases without an answer: left out
    ranked_first: Estimate | None  # edits in which the first line is to change
    levels: tuple[LevelFigures, ...]


class CostFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What the first answer of each case costs."""

    cpu_s: Estimate | None  # mean seconds of one core
    ms_p50: Estimate | None
    ms_p95: Estimate | None
    read: Estimate | None  # mean tokens
    reused: Estimate | None


class EditFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a run. ``parts``: by the name of a division, then of a part."""

    whole: PartFigures
    cost: CostFigures
    parts: dict[str, dict[str, PartFigures]]


def edit_figures(rows: Sequence[EditRow]) -> EditFigures:
    """Return the figures of a run's rows."""
    counted = [row for row in rows if row.is_counted_edit]
    divisions: tuple[tuple[str, Sequence[EditRow], Callable[[EditRow], str]], ...] = (
        ("repositories", rows, _corpus_part),
        ("commits", rows, _age_part),
        ("kind of edit", counted, lambda row: row.kind),
        ("language", rows, lambda row: row.language),
        ("place", counted, place_shape),
    )
    return EditFigures(
        whole=_part(rows),
        cost=_cost(rows),
        parts={name: _parts(of, part_of) for name, of, part_of in divisions},
    )


def _parts(rows: Sequence[EditRow], part_of: Callable[[EditRow], str]) -> dict[str, PartFigures]:
    names = sorted({part_of(row) for row in rows})
    return {name: _part([row for row in rows if part_of(row) == name]) for name in names}


def _corpus_part(row: EditRow) -> str:
    return "in our corpus" if row.repo in IN_OUR_CORPUS else "others"


def _age_part(row: EditRow) -> str:
    return "since October 2024" if row.date >= BACKBONE_SINCE else "older"


def _part(rows: Sequence[EditRow]) -> PartFigures:
    answered = [row for row in rows if not row.first.is_failure]
    controls = [row for row in answered if row.is_control]
    edits = [row for row in answered if row.is_counted_edit]
    drawn = Resampling([row.repo for row in edits])
    return PartFigures(
        edits=len(edits),
        controls=len(controls),
        out_of_window=len(answered) - len(controls) - len(edits),
        failures=len(rows) - len(answered),
        ranked_first=drawn.share([is_ranked_first(row) for row in edits]),
        levels=tuple(_level(level, edits, controls, drawn) for level in LEVELS),
    )


def is_ranked_first(row: EditRow) -> bool:
    """Whether the line that comes first is one that the commit changed, too."""
    return bool(row.first.line_hunks)


def _level(
    level: Level, edits: Sequence[EditRow], controls: Sequence[EditRow], drawn: Resampling
) -> LevelFigures:
    offers = [row.first.offer(level) for row in edits]
    exact = [_is_exact(offer) for offer in offers]
    reached = [num_reached(row, level) for row in edits]
    in_window = [len(row.first.in_window) for row in edits]
    return LevelFigures(
        level=level,
        offers=sum(offer is not None for offer in offers),
        exact=sum(exact),
        precision=drawn.share([None if offer is None else offer.is_exact for offer in offers]),
        at_right_place=drawn.share(
            [None if offer is None else bool(offer.hunks) for offer in offers]
        ),
        edits_exact=drawn.share(exact),
        false_on_controls=Resampling([row.repo for row in controls]).share(
            [row.first.offer(level) is not None for row in controls]
        ),
        reached_after_right=drawn.ratio(*_where(exact, reached, in_window)),
        reached=drawn.ratio(reached, in_window),
        keys_saved=drawn.ratio(
            [keys_saved(row, level) for row in edits], [keys_needed(row) for row in edits]
        ),
    )


def _where(
    chosen: Sequence[bool], parts: Sequence[int], wholes: Sequence[int]
) -> tuple[list[float | None], list[float | None]]:
    """Return the numbers of the chosen cases, None for the others."""
    return (
        [number if is_in else None for is_in, number in zip(chosen, parts, strict=True)],
        [number if is_in else None for is_in, number in zip(chosen, wholes, strict=True)],
    )


def _is_exact(offer: JudgedPlace | None) -> bool:
    return offer is not None and offer.is_exact


def _cost(rows: Sequence[EditRow]) -> CostFigures:
    answered = [row for row in rows if not row.first.is_failure]
    drawn = Resampling([row.repo for row in answered])
    ms_p50, ms_p95 = drawn.percentiles([row.first.ms for row in answered], (50, 95))
    return CostFigures(
        cpu_s=drawn.mean([row.first.cpu_s for row in answered]),
        ms_p50=ms_p50,
        ms_p95=ms_p95,
        read=drawn.mean([row.first.num_read for row in answered]),
        reused=drawn.mean([row.first.num_reused for row in answered]),
    )
