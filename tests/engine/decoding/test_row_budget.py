"""How rows are shared out over outcomes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.decoding.speculation_policy import share_masks

_confidences = st.lists(st.floats(0, 1), max_size=20)


def test_with_nothing_proposed_all_masks_stand_behind_the_anchor() -> None:
    assert share_masks([], num_rows=16, max_masks=4) == [4]
    assert share_masks([], num_rows=4, max_masks=4) == [3]


def test_a_sure_proposal_gets_its_masks_behind_its_end() -> None:
    assert share_masks([1.0, 1.0], num_rows=7, max_masks=4) == [0, 0, 4]


def test_an_unsure_proposal_gets_its_masks_in_front() -> None:
    assert share_masks([0.0, 1.0], num_rows=7, max_masks=4) == [4, 0, 0]


def test_doubt_shares_them_out() -> None:
    masks = share_masks([0.5], num_rows=8, max_masks=4)
    assert masks == [3, 3]


def test_no_rows_are_left_for_masks() -> None:
    assert share_masks([0.9, 0.9, 0.9], num_rows=2, max_masks=4) == [0, 0, 0, 0]


@given(_confidences, st.integers(1, 40), st.integers(1, 8))
def test_never_more_rows_than_the_budget(
    confidences: list[float], num_rows: int, max_masks: int
) -> None:
    masks = share_masks(confidences, num_rows=num_rows, max_masks=max_masks)
    num_outcomes = len(confidences) + 1
    assert len(masks) == num_outcomes
    assert all(0 <= count <= max_masks for count in masks)
    if num_outcomes <= num_rows:
        wanted = min(num_rows, num_outcomes * (1 + max_masks))
        assert num_outcomes + sum(masks) == wanted, "no row is left unused"
    else:
        assert sum(masks) == 0


@given(_confidences.filter(bool), st.integers(2, 40))
def test_a_likelier_outcome_never_gets_fewer(confidences: list[float], num_rows: int) -> None:
    masks = share_masks(confidences, num_rows=num_rows, max_masks=4)
    kept, likelihoods = 1.0, []
    for confidence in confidences:
        likelihoods.append(kept * (1 - confidence))
        kept *= confidence
    likelihoods.append(kept)
    ordered = sorted(zip(likelihoods, masks, strict=True))
    for (less, few), (more, many) in pairwise(ordered):
        assert few <= many or less == pytest.approx(more)
