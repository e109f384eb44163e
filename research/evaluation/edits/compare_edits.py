"""Compare two runs of edits.

Only cases are compared in which both runs took the same hunk as the user's edit.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from intarsia_research.evaluation.compare import Comparison, Discordant, Pairs
from intarsia_research.evaluation.edits.edit_figures import is_ranked_first
from intarsia_research.evaluation.edits.edit_record import EditRow
from intarsia_research.evaluation.edits.finder import LEVELS, Level

EditPair = tuple[EditRow, EditRow]


def compare_edits(first: Sequence[EditRow], second: Sequence[EditRow]) -> Comparison:
    """Compare two runs. Raise EvaluationFault if they have no case in common."""
    paired = Pairs(
        first,
        second,
        key=lambda row: row.case,
        group=lambda row: row.repo,
        text=lambda row: (row.hunks, row.user_hunk),
        cases="case",
    )
    shares = {"right line ranked first": paired.share(is_ranked_first, _are_edits)}
    for level in LEVELS:
        shares[f"{level}: exact"] = paired.share(partial(has_exact_offer, level=level), _are_edits)
        shares[f"{level}: wrong"] = paired.share(partial(_has_wrong_offer, level=level), _are_edits)
        shares[f"{level}: false on controls"] = paired.share(
            partial(_has_offer, level=level), _are_controls
        )
    means = {
        "seconds of a core": paired.mean(lambda row: row.first.cpu_s),
        "ms": paired.mean(lambda row: None if row.first.is_failure else row.first.ms),
    }
    edits = list(filter(_are_edits, paired.pairs))
    return paired.compared(shares, means, list(_discordant(edits, LEVELS[-1])))


def has_exact_offer(row: EditRow, level: Level) -> bool:
    """Whether the first offer of a case at a level is exact."""
    offer = row.first.offer(level)
    return offer is not None and offer.is_exact


def _has_offer(row: EditRow, level: Level) -> bool:
    return row.first.offer(level) is not None


def _has_wrong_offer(row: EditRow, level: Level) -> bool:
    return _has_offer(row, level) and not has_exact_offer(row, level)


def _are_edits(pair: EditPair) -> bool:
    """Whether both sides answered an edit that has a further place in the window of one."""
    is_answered = not any(row.first.is_failure for row in pair)
    return is_answered and any(row.is_counted_edit for row in pair)


def _are_controls(pair: EditPair) -> bool:
    return all(row.is_control and not row.first.is_failure for row in pair)


def _discordant(edits: Sequence[EditPair], level: Level) -> Iterator[Discordant]:
    for one, other in edits:
        is_right_in_second = has_exact_offer(other, level)
        if has_exact_offer(one, level) == is_right_in_second:
            continue
        right, wrong = (other, one) if is_right_in_second else (one, other)
        offer, wrong_offer = right.first.offer(level), wrong.first.offer(level)
        assert offer is not None, "it is exact"
        yield Discordant(
            case=one.case,
            kind=one.kind,
            language=one.language,
            figure="exact",
            is_right_in_second=is_right_in_second,
            truth=offer.new_text,
            wrong=wrong_offer.new_text if wrong_offer else "",
        )
