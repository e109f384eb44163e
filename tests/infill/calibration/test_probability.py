"""From the confidences of tokens to the probability that a user keeps the text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.calibration.calibration import Calibration
from intarsia.infill.calibration.evidence import Evidence, evidence_of
from intarsia.infill.calibration.fitted import CALIBRATIONS
from intarsia.infill.calibration.shown_part import keep_probability
from intarsia.infill.confidence import ConfidentToken, without_start

EVEN = Calibration(bias=0, total=1, weakest=0, end=1)

weights = st.floats(0, 5)
calibrations = st.builds(
    Calibration, bias=st.floats(-3, 5), total=weights, weakest=weights, end=weights
)
token_lists = st.lists(
    st.builds(ConfidentToken, st.text("ab \n", min_size=1, max_size=4), st.floats(0, 1)),
    min_size=1,
    max_size=8,
)


def tokens(*confidences: float | None) -> list[ConfidentToken]:
    return [ConfidentToken("x", confidence) for confidence in confidences]


def test_the_evidence_is_that_of_all_tokens_of_the_weakest_and_of_the_end() -> None:
    found = evidence_of(tokens(0.5, 0.8), 0.9)
    assert found is not None
    assert math.exp(found.total) == pytest.approx(0.4)
    assert math.exp(found.weakest) == pytest.approx(0.5)
    assert math.exp(found.end) == pytest.approx(0.9)


def test_a_text_that_claims_no_end_loses_nothing_by_it() -> None:
    found = evidence_of(tokens(0.5))
    assert found is not None
    assert found.end == 0


@pytest.mark.parametrize("confidence", [0.0, -0.1, 1.5])
def test_a_confidence_out_of_range_is_taken_as_the_nearest(confidence: float) -> None:
    found = evidence_of(tokens(confidence))
    assert found is not None
    assert math.isfinite(found.total)
    assert found.total <= 0


def test_without_each_confidence_nothing_is_known() -> None:
    assert evidence_of(tokens(0.5, None)) is None
    assert keep_probability(tokens(0.5, None), None, EVEN) is None
    assert keep_probability(tokens(0.5), None, None) is None


def test_the_probability_is_a_logistic_function_of_the_evidence() -> None:
    evidence = Evidence(total=-1, weakest=-1, end=-2)
    assert EVEN.probability(evidence) == pytest.approx(1 / (1 + math.exp(3)))


def test_a_long_text_of_surprises_has_a_probability_too() -> None:
    found = keep_probability(tokens(*[0.0] * 1_000), 0.0, EVEN)
    assert found == pytest.approx(0)


def test_more_confidence_may_not_be_worse() -> None:
    with pytest.raises(ValueError, match="negative"):
        Calibration(bias=0, total=-0.1, weakest=0, end=0)


@given(token_lists, st.floats(0, 1), calibrations)
def test_typing_along_never_makes_the_rest_less_probable(
    text: list[ConfidentToken], end: float, calibration: Calibration
) -> None:
    whole = keep_probability(text, end, calibration)
    num_chars = sum(len(token.text) for token in text)
    for typed in range(num_chars):
        rest = keep_probability(without_start(text, typed), end, calibration)
        assert whole is not None
        assert rest is not None
        assert rest >= whole - 1e-12


@given(token_lists, st.floats(0, 1), calibrations)
def test_a_beginning_is_never_less_probable_than_the_whole(
    text: list[ConfidentToken], end: float, calibration: Calibration
) -> None:
    whole = keep_probability(text, end, calibration)
    assert whole is not None
    for length in range(1, len(text)):
        beginning = keep_probability(text[:length], None, calibration)
        assert beginning is not None
        assert beginning >= whole - 1e-12


def test_the_default_model_has_a_calibration() -> None:
    assert "qwen2.5-coder-0.5b" in CALIBRATIONS
