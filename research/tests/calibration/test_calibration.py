"""The collected answers, the fit to them, and what the levels then show."""

import random
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from sample_cases import case
from scripted_engine import filled_with

from intarsia.engine.ipc.messages import CanvasToken
from intarsia.infill.calibration import LEVELS, Calibration, Evidence
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.suggestion import ConfidentToken
from intarsia_research.calibration.answers import CollectedAnswer, fill_options, read_answers
from intarsia_research.calibration.bodies import FittedBodies, fit_bodies
from intarsia_research.calibration.cases import HUMANEVAL, all_cases, sample
from intarsia_research.calibration.examples import Suggested, suggested
from intarsia_research.calibration.fit import NUM_FOLDS, fit, folds
from intarsia_research.calibration.held_out import NUM_BINS, HeldOut, calibration_error, measure
from intarsia_research.calibration.results import bodies_module, fitted_module
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.bodies import body_cases
from intarsia_research.evaluation.systems.client import plan_case
from intarsia_research.sandbox.execute import find_sandbox


def suggestion(number: int, confidence: float, *, is_kept: bool) -> Suggested:
    """Return a suggestion ``alpha() + beta``, with this confidence in ``beta``."""
    truth = "alpha() + beta" if is_kept else "alpha() + gamma"
    hole = replace(case("y = ", truth, name=str(number)), group=str(number // 2))
    plan = plan_case(hole, fill_options())
    assert isinstance(plan, FillPlan)
    return Suggested(
        case=hole,
        plan=plan,
        tokens=(
            ConfidentToken("alpha()", 1.0),
            ConfidentToken(" +", 1.0),
            ConfidentToken(" beta", confidence),
        ),
        end_confidence=0.9,
        is_kept=is_kept,
    )


SUGGESTED = [
    suggestion(number, confidence, is_kept=number % 10 < 10 * share)
    for number, (confidence, share) in enumerate([(0.99, 0.9), (0.3, 0.5), (0.01, 0.1)] * 40)
]


@pytest.fixture(scope="module")
def figures() -> HeldOut:
    return measure(SUGGESTED, seed=1)


def test_the_error_is_the_mean_distance_of_the_bins() -> None:
    probabilities = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 10)
    kept = np.concatenate([np.arange(10) < count for count in (1, 5, 5, 5, 9)])
    assert NUM_BINS == 5
    assert calibration_error(probabilities, kept.astype(float)) == pytest.approx(0.4 / 5)


def test_a_fitted_probability_is_nearly_the_share_that_is_kept(figures: HeldOut) -> None:
    assert figures.error < 0.1
    assert figures.error < figures.raw_error
    assert (figures.num_suggested, figures.num_groups) == (120, 60)


def test_a_higher_level_shows_less_and_more_is_kept_than_of_all(figures: HeldOut) -> None:
    everything, *levels = figures.levels
    assert everything.shown.value == 1
    assert [it.name for it in levels] == list(LEVELS)
    assert all(it.kept is not None for it in levels)
    shown = [it.shown.value for it in figures.levels]
    assert shown == sorted(shown, reverse=True)
    kept = [it.kept.value for it in figures.levels if it.kept is not None]
    assert min(kept[1:]) > kept[0]
    assert levels[-1].num_cut > 0


def test_a_beginning_is_kept_if_the_known_text_begins_with_it() -> None:
    wrong = suggestion(1, 0.1, is_kept=False)
    assert wrong.keeps(len("alpha"))
    assert not wrong.keeps(len("alpha + beta"))
    assert suggestion(1, 0.1, is_kept=True).keeps(len("alpha + beta"))


def test_the_written_module_has_the_calibration(figures: HeldOut) -> None:
    calibration = fit([it.evidence for it in SUGGESTED], [it.is_kept for it in SUGGESTED])
    names: dict[str, dict[str, object]] = {}
    exec(fitted_module("a-model", calibration, figures), names)
    (found,) = names["CALIBRATIONS"].values()
    assert list(names["CALIBRATIONS"]) == ["a-model"]
    assert str(found)[:20] == str(calibration)[:20]


def test_the_written_module_has_the_calibration_of_bodies() -> None:
    calibration = Calibration(bias=1.5, total=0.25, mean=8.0)
    names: dict[str, dict[str, object]] = {}
    exec(
        bodies_module("a-model", FittedBodies(calibration=calibration, num_bodies=9, num_right=4)),
        names,
    )
    assert names["BODIES"] == {"a-model": calibration}


def test_a_body_is_all_of_a_function_and_its_test_decides() -> None:
    bodies = body_cases(HUMANEVAL)
    assert len(bodies) == len({it.group for it in bodies}) > 100
    answers = []
    for body in bodies[:4]:
        plan = plan_case(body, fill_options())
        assert isinstance(plan, FillPlan) and plan.asked is not None
        for text, confidence in ((body.truth, 0.99), ("return None", 0.5)):
            tokens = (CanvasToken(text, confidence, True),)
            filled = filled_with(text, model="a-model", end_confidence=0.9, tokens=tokens)
            answers.append(CollectedAnswer(set=body.set, case=body.id, filled=filled))
    fitted = fit_bodies(answers, bodies, find_sandbox())
    assert (fitted.num_bodies, fitted.num_right) == (8, 4)
    assert fitted.calibration.weakest == fitted.calibration.end == 0
    assert fitted.calibration.mean > 0


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return all_cases()


def test_the_first_holes_are_a_sample_of_both_sets(cases: list[Case]) -> None:
    first = sample(cases)[:70]
    assert {case.set for case in first} == {"builtin", "humaneval-single-line"}
    assert len({case.group for case in first}) >= 20
    assert len({case.language for case in first}) >= 4


def test_the_holes_of_a_file_follow_each_other(cases: list[Case]) -> None:
    groups = [group for group, _ in groupby(sample(cases), key=lambda it: (it.set, it.group))]
    assert len(groups) == len(set(groups))


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"set": "builtin"}\n')
    with pytest.raises(EvaluationFault, match=r"answers\.jsonl"):
        list(read_answers(file))


def test_a_hole_of_another_set_is_told(tmp_path: Path, cases: list[Case]) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"set": "builtin", "case": "no such hole", "filled": null}\n')
    with pytest.raises(EvaluationFault, match="no such hole"):
        list(suggested(read_answers(file), cases))


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
