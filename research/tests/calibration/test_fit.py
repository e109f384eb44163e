"""The fit finds the coefficients that made the data, and its folds keep groups together."""

import random

import pytest

from intarsia.infill.calibration.calibration import Calibration, Evidence
from intarsia_research.calibration.fit import NUM_FOLDS, fit, folds

TRUE = Calibration(bias=2.0, total=0.8, weakest=0.5, end=1.5)


def drawn(number: int) -> tuple[list[Evidence], list[bool]]:
    """Return evidence as it could be, and what becomes of it by ``TRUE``."""
    order = random.Random(1)
    evidence = []
    for _ in range(number):
        weakest = -order.expovariate(0.5)
        total = weakest - order.expovariate(0.5)
        evidence.append(Evidence(total=total, weakest=weakest, end=-order.expovariate(1)))
    return evidence, [order.random() < TRUE.probability(it) for it in evidence]


def test_the_probabilities_of_the_data_are_found() -> None:
    evidence, kept = drawn(2_000)
    found = fit(evidence, kept)
    errors = [abs(found.probability(it) - TRUE.probability(it)) for it in evidence]
    assert sum(errors) / len(errors) < 0.03


def test_the_same_data_give_the_same_coefficients() -> None:
    assert fit(*drawn(300)) == fit(*drawn(300))


def test_no_weight_is_negative_though_the_data_would_have_it() -> None:
    evidence, kept = drawn(300)
    found = fit(evidence, [not it for it in kept])
    assert min(found.total, found.weakest, found.end) >= 0


def test_texts_of_one_kind_tell_nothing() -> None:
    evidence, _ = drawn(3)
    with pytest.raises(ValueError, match="both kinds"):
        fit(evidence, [True, True, True])


def test_a_group_is_held_out_as_a_whole_and_folds_are_even() -> None:
    groups = [f"file {number // 3}" for number in range(60)]
    fold_of = folds(groups, seed=1)
    assert len(set(zip(groups, fold_of, strict=True))) == len(set(groups))
    assert {fold_of.count(number) for number in range(NUM_FOLDS)} == {12}
    assert fold_of != folds(groups, seed=2)
