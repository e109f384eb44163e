"""Compares two runs of edits case by case: is the difference more than noise?

Only cases are compared in which both runs took the same hunk as the user's edit.
"""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.edit_figures import is_ranked_first
from intarsia_research.evaluation.edits.edit_record import EditRow
from intarsia_research.evaluation.edits.finder import LEVELS, Level
from intarsia_research.evaluation.intervals import Resampling
from intarsia_research.evaluation.paired import (
    PairedMean,
    PairedShare,
    paired_mean,
    paired_share,
)

EditPair = tuple[EditRow, EditRow]


class PairedLevel(msgspec.Struct, frozen=True, kw_only=True):
    """The two runs at one level."""

    level: Level
    edits_exact: PairedShare | None  # edits with an exact offer
    edits_wrong: PairedShare | None  # edits with a wrong offer
    false_on_controls: PairedShare | None  # controls with an offer


class ChangedOffer(msgspec.Struct, frozen=True, kw_only=True):
    """An edit with an exact offer in one run alone, at the boldest level."""

    case: str
    kind: str
    language: str
    is_right_in_second: bool
    truth: str  # at the place of the exact offer
    other: str  # what the other run offers; none: nothing


class EditComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two runs."""

    pairs: int
    left_out_of_first: int  # cases of the first run that the second lacks
    left_out_of_second: int
    changed: int  # cases of the same id, but with another edit: also left out
    ranked_first: PairedShare | None
    levels: tuple[PairedLevel, ...]
    cpu_s: PairedMean | None
    ms: PairedMean | None
    changed_offers: tuple[ChangedOffer, ...]


def compare_edits(first: Sequence[EditRow], second: Sequence[EditRow]) -> EditComparison:
    """Compare two runs. Raise EvaluationFault if they have no case in common."""
    before, after = ({row.case: row for row in rows} for rows in (first, second))
    common = [case for case in before if case in after]
    pairs = [
        (before[case], after[case])
        for case in common
        if (before[case].hunks, before[case].user_hunk)
        == (after[case].hunks, after[case].user_hunk)
    ]
    if not pairs:
        raise EvaluationFault(
            f"these runs have no case in common ({len(common)} with the same id and another edit): "
            "compare runs on the same set, with the same seed"
        )
    edits = [pair for pair in pairs if _is_edit(pair)]
    controls = [pair for pair in pairs if all(_is_answered_control(row) for row in pair)]
    drawn = Resampling([row.repo for row, _ in pairs])
    return EditComparison(
        pairs=len(pairs),
        left_out_of_first=len(before) - len(common),
        left_out_of_second=len(after) - len(common),
        changed=len(common) - len(pairs),
        ranked_first=_share(edits, is_ranked_first),
        levels=tuple(_level(level, edits, controls) for level in LEVELS),
        cpu_s=paired_mean([(one.first.cpu_s, two.first.cpu_s) for one, two in pairs], drawn),
        ms=paired_mean([(_ms(one), _ms(two)) for one, two in pairs], drawn),
        changed_offers=tuple(_changed_offers(edits)),
    )


def _level(level: Level, edits: Sequence[EditPair], controls: Sequence[EditPair]) -> PairedLevel:
    return PairedLevel(
        level=level,
        edits_exact=_share(edits, partial(has_exact_offer, level=level)),
        edits_wrong=_share(edits, partial(_has_wrong_offer, level=level)),
        false_on_controls=_share(controls, partial(_has_offer, level=level)),
    )


def has_exact_offer(row: EditRow, level: Level) -> bool:
    """Whether the first offer of a case at a level is exact."""
    offer = row.first.offer(level)
    return offer is not None and offer.is_exact


def _has_offer(row: EditRow, level: Level) -> bool:
    return row.first.offer(level) is not None


def _has_wrong_offer(row: EditRow, level: Level) -> bool:
    return _has_offer(row, level) and not has_exact_offer(row, level)


def _is_edit(pair: EditPair) -> bool:
    """Whether both sides answered an edit that has a further place in the window of one."""
    is_answered = not any(row.first.is_failure for row in pair)
    return is_answered and any(row.is_counted_edit for row in pair)


def _is_answered_control(row: EditRow) -> bool:
    return row.is_control and not row.first.is_failure


def _share(pairs: Sequence[EditPair], is_so: Callable[[EditRow], bool]) -> PairedShare | None:
    return paired_share(
        [(is_so(one), is_so(other)) for one, other in pairs], [row.repo for row, _ in pairs]
    )


def _ms(row: EditRow) -> float | None:
    return None if row.first.is_failure else row.first.ms


def _changed_offers(edits: Sequence[EditPair]) -> list[ChangedOffer]:
    level = LEVELS[-1]
    found = []
    for one, other in edits:
        if has_exact_offer(one, level) == has_exact_offer(other, level):
            continue
        right, wrong = (one, other) if has_exact_offer(one, level) else (other, one)
        offer, wrong_offer = right.first.offer(level), wrong.first.offer(level)
        assert offer is not None, "it is exact"
        found.append(
            ChangedOffer(
                case=one.case,
                kind=one.kind,
                language=one.language,
                is_right_in_second=right is other,
                truth=offer.new_text,
                other=wrong_offer.new_text if wrong_offer else "",
            )
        )
    return found
