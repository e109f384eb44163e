"""Calibration error, and what the levels show, on suggestions with a known outcome."""

from pathlib import Path

import numpy as np
import pytest

from intarsia.infill.calibration.threshold import LEVELS
from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.filling.plan import FillPlan
from intarsia_research.calibration.answers import fill_options
from intarsia_research.calibration.examples import Suggested
from intarsia_research.calibration.fit import fit
from intarsia_research.calibration.held_out import NUM_BINS, HeldOut, calibration_error, measure
from intarsia_research.calibration.results import as_text, draw, fitted_module
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.systems.client import plan_case


def suggestion(number: int, confidence: float, *, is_kept: bool) -> Suggested:
    """Return a suggestion ``alpha + beta``, with this confidence in ``beta``."""
    case = Case(
        id=str(number),
        set="drawn",
        kind="rest_of_line",
        language="python",
        path="a.py",
        group=str(number // 2),
        prefix="y = ",
        truth="alpha + beta" if is_kept else "alpha + gamma",
        suffix="\n",
    )
    plan = plan_case(case, fill_options())
    assert isinstance(plan, FillPlan)
    return Suggested(
        case=case,
        plan=plan,
        tokens=(
            ConfidentToken("alpha", 1.0),
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


def test_a_higher_level_shows_less_and_more_of_it_is_kept(figures: HeldOut) -> None:
    everything, *levels = figures.levels
    assert everything.shown.value == 1
    assert [it.name for it in levels] == list(LEVELS)
    assert all(it.kept is not None for it in levels)
    kept = [it.kept.value for it in figures.levels if it.kept is not None]
    assert kept == sorted(kept)
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


def test_the_figures_are_told_and_drawn_the_same_way_each_time(
    figures: HeldOut, tmp_path: Path
) -> None:
    assert "expected calibration error" in as_text(figures)
    pictures = [tmp_path / name for name in ("one.svg", "other.svg")]
    for picture in pictures:
        draw(figures, picture)
    one, other = (picture.read_bytes() for picture in pictures)
    assert one == other
    assert b"<svg" in one
