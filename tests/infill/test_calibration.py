"""How sure the model is, how likely a text is kept, and how much of it is shown."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.calibration import (
    Calibration,
    Evidence,
    ShownPart,
    evidence_of,
    keep_probability,
    percent_of,
    shown_part,
)
from intarsia.infill.suggestion import ConfidentToken, sure_start, without_end, without_start

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
    assert math.exp(found.total) == pytest.approx(0.4)
    assert math.exp(found.weakest) == pytest.approx(0.5)
    assert math.exp(found.end) == pytest.approx(0.9)


def test_a_text_that_claims_no_end_loses_nothing_by_it() -> None:
    found = evidence_of(tokens(0.5))
    assert found.end == 0


@pytest.mark.parametrize("confidence", [0.0, -0.1, 1.5])
def test_a_confidence_out_of_range_is_taken_as_the_nearest(confidence: float) -> None:
    found = evidence_of(tokens(confidence))
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
def test_typing_along_never_makes_the_rest_less_probable(text, end, calibration):
    whole = keep_probability(text, end, calibration)
    num_chars = sum(len(token.text) for token in text)
    for typed in range(num_chars):
        rest = keep_probability(without_start(text, typed), end, calibration)
        assert whole is not None
        assert rest is not None
        assert rest >= whole - 1e-12


@given(token_lists, st.floats(0, 1), calibrations)
def test_a_beginning_is_never_less_probable_than_the_whole(text, end, calibration):
    whole = keep_probability(text, end, calibration)
    assert whole is not None
    for length in range(1, len(text)):
        beginning = keep_probability(text[:length], None, calibration)
        assert beginning is not None
        assert beginning >= whole - 1e-12


class Product(Calibration):
    """The product of all confidences."""

    def probability(self, evidence: Evidence) -> float:
        return math.exp(evidence.total + evidence.end)


PRODUCT = Product(bias=0, total=1, weakest=0, end=1)


def spoken(*parts: tuple[str, float | None]) -> list[ConfidentToken]:
    return [ConfidentToken(text, confidence) for text, confidence in parts]


def shown(parts, percent, *, end=None) -> str:
    """Return what is shown where every beginning leaves the code whole."""
    tokens = spoken(*parts)
    part = shown_part(tokens, end, PRODUCT, percent, lambda beginning, goes_on: True)
    return "".join(token.text for token in tokens)[: part.length]


LINE = (("total", 0.9), (" +=", 0.9), (" rates", 0.5), ("[i]", 0.9))
SURE = (("total", 0.9), (" +=", 0.9), (" rates", 0.9), ("[i]", 0.9))


@pytest.mark.parametrize(
    ("parts", "percent", "text"),
    [
        (LINE, 0, "total += rates[i]"),  # everything
        (LINE, 20, "total +="),  # 8 likely characters are worth more than 17 doubtful ones
        (LINE, 60, "total +="),
        (LINE, 70, "total"),
        (LINE, 85, "total"),
        (LINE, 91, ""),
        ((("  //", 0.9), (" -", 0.9), (" Read", 0.1)), 50, ""),  # marks alone
        ((("<<", 0.9), ("Name", 0.9), (">>,", 0.1)), 50, "<<Name>>,"),
        ((("a", 0.9), ("</li", 0.9), (">\n", 0.1)), 50, "a</li>"),  # a tag is closed
        (SURE, 20, "total += rates[i]"),
        (SURE, 50, "total += rates"),
        (SURE, 70, "total"),
    ],
)
def test_the_part_with_the_most_to_win_is_shown(parts, percent, text):
    assert shown(parts, percent) == text


def test_an_improbable_end_hides_the_last_token_alone() -> None:
    parts = (("first(a)", 0.9), (" or", 1.0), (" second(a)", 1.0))
    assert shown(parts, 60, end=0.9) == "first(a) or second(a)"
    assert shown(parts, 60, end=0.6) == "first(a) or"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((("value", 0.9), ("s", 0.9), ("_left", 0.1)), ""),  # a word is not cut
        ((("value", 0.9), ("$", 0.9), (" = 1", 0.1)), "value$"),
        ((("f(x)", 0.9), ("\n    ", 0.9), ("g(x)", 0.1)), "f(x)"),  # no blanks at its end
        ((("a", 0.9), (" =", 0.9), (" 1", 0.1)), ""),  # two signs are not worth reading
        ((("    ", 0.9), ("a", 0.9), (" = 1", 0.1)), ""),
        ((("limit(10", 0.9), ("),", 0.1)), "limit(10),"),  # what it has opened is closed
        ((("f({a: [1", 0.9), ("]})", 0.1), (";", 0.1)), "f({a: [1]});"),
        ((("f(a", 0.9), (", b)", 0.1)), "f(a"),
        (((": Vec<String", 0.9), (">,", 0.1)), ": Vec<String>,"),
        ((("a < bcd", 0.9), (">> 1", 0.1)), "a < bcd"),
        ((("goto failed", 0.9), (";\n", 0.1)), "goto failed;"),
        ((("python3", 0.9), (" \\", 0.1)), "python3 \\"),
        ((("a %> b", 0.9), (" \\d", 0.1)), "a %> b"),
        ((("items", 0.9), (")", 0.1)), "items"),
    ],
)
def test_a_beginning_is_worth_reading(parts: Sequence[tuple[str, float]], text: str) -> None:
    assert shown(parts, 60) == text


def test_a_text_is_cut_only_where_the_code_is_whole() -> None:
    asked: list[str] = []

    def may_end_here(beginning: str, goes_on: str) -> bool:
        assert (beginning + goes_on).startswith("total +=")
        asked.append(beginning)
        return beginning == "total"

    part = shown_part(spoken(*LINE), None, PRODUCT, 45, may_end_here)
    assert part.length == len("total")
    assert asked == ["total +=", "total"], "the best first"


@pytest.mark.parametrize("calibration", [PRODUCT, None])
def test_where_the_probability_is_not_known_all_is_shown(calibration: Calibration | None) -> None:
    unknown = spoken(("total", 0.1), (" = 1", None if calibration else 0.1))
    part = shown_part(unknown, None, calibration, 100, lambda beginning: True)
    assert part == ShownPart(length=9, probability=None)


@given(
    st.lists(st.tuples(st.text("ab \n", min_size=1, max_size=5), st.floats(0, 1)), max_size=8),
    st.integers(0, 100),
    st.integers(0, 100),
)
def test_a_higher_percentage_never_shows_more(parts, one, other):
    assert len(shown(parts, max(one, other))) <= len(shown(parts, min(one, other)))


@pytest.mark.parametrize(
    ("threshold", "percent"), [("0", 0), ("7", 7), (45, 45), ("100", 100), (100, 100)]
)
def test_a_percentage_is_itself(threshold: str | int, percent: int) -> None:
    assert percent_of(threshold) == percent


@pytest.mark.parametrize("threshold", ["", "bold", "101", -1, 101, "07", "5.5", "50 %", "50\n"])
def test_nothing_else_is_a_threshold(threshold: str | int) -> None:
    with pytest.raises(ValueError, match="neither"):
        percent_of(threshold)


tokens_of_any_kind = st.lists(
    st.builds(ConfidentToken, st.text("ab \n", max_size=4), st.floats(0, 1)), max_size=8
)


def joined(tokens: object) -> str:
    assert isinstance(tokens, list | tuple)
    return "".join(token.text for token in tokens)


@pytest.mark.parametrize(
    ("parts", "sure"),
    [
        ([("foo", 0.9), ("(", 0.9), ("bar", 0.4), (")", 0.9)], "foo("),
        ([("foo", 0.9), ("()", 0.7)], "foo()"),
        ([("foo", 0.2), ("()", 0.9)], ""),
        ([("return", 1.0), (" ", 1.0), ("x", 0.1)], "return"),
        ([("f()", 0.9), ("\n    ", 0.9), ("g()", 0.1)], "f()"),
        ([("f()", 0.9), ("\n", 0.9)], "f()\n"),
        ([("    ", 0.9), ("x", 0.1)], ""),
        ([("f()", 0.9), (" + g()", None), (" + h()", 0.9)], "f()"),
        ([], ""),
    ],
)
def test_a_text_is_sure_up_to_its_first_unsure_token(parts, sure):
    assert sure_start(spoken(*parts), 0.7) == sure


@given(tokens_of_any_kind, st.floats(0, 1))
def test_the_sure_start_ends_before_the_first_unsure_token_without_trailing_blanks(tokens, least):
    sure = sure_start(tokens, least)
    assert joined(tokens).startswith(sure)
    assert sure == joined(tokens) or sure == sure.rstrip()


@given(tokens_of_any_kind, st.integers(0, 40))
def test_taking_the_start_away_leaves_the_rest_and_each_confidence(tokens, length):
    left = without_start(tokens, length)
    assert joined(left) == joined(tokens)[length:]
    confidences = [token.confidence for token in tokens if token.text]
    assert [token.confidence for token in left] == confidences[len(confidences) - len(left) :]


@given(tokens_of_any_kind, st.integers(0, 20))
def test_start_and_end_together_are_the_whole_text(tokens, length):
    start, rest = without_end(tokens, length), without_start(tokens, length)
    assert joined(start) == joined(tokens)[:length]
    assert joined(start) + joined(rest) == joined(tokens)
