"""How much of a text is shown. Drawn: each token with its confidence, ``|`` where the text is cut.

The calibration of these tests is plain: the probability of a text is that of its tokens, to keep
the numbers readable.
"""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.calibration.calibration import Calibration
from intarsia.infill.calibration.evidence import Evidence
from intarsia.infill.calibration.shown_part import ShownPart, shown_part
from intarsia.infill.confidence import ConfidentToken


class Product(Calibration):
    """The product of all confidences."""

    def probability(self, evidence: Evidence) -> float:
        return math.exp(evidence.total + evidence.end)


PRODUCT = Product(bias=0, total=1, weakest=0, end=1)


def spoken(*parts: tuple[str, float | None]) -> list[ConfidentToken]:
    return [ConfidentToken(text, confidence) for text, confidence in parts]


def shown(
    parts: Sequence[tuple[str, float | None]], percent: int, *, end: float | None = None
) -> str:
    """Return what is shown where every beginning leaves the code whole."""
    tokens = spoken(*parts)
    part = shown_part(tokens, end, PRODUCT, percent, lambda beginning: True)
    return "".join(token.text for token in tokens)[: part.length]


LINE = (("total", 0.9), (" +=", 0.9), (" rates", 0.5), ("[i]", 0.9))


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (0, "total += rates[i]"),
        (36, "total += rates[i]"),
        (37, "total += rates"),
        (45, "total +="),
        (81, "total +="),
        (85, "total"),
        (91, ""),
    ],
)
def test_a_text_ends_after_the_last_token_that_is_probable_enough(percent: int, text: str) -> None:
    assert shown(LINE, percent) == text


def test_an_improbable_end_hides_the_last_token_alone() -> None:
    parts = (("first(a)", 0.9), (" or", 1.0), (" second(a)", 1.0))
    assert shown(parts, 80, end=0.9) == "first(a) or second(a)"
    assert shown(parts, 80, end=0.5) == "first(a) or"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((("value", 0.9), ("s", 0.9), ("_left", 0.1)), ""),  # a word is not cut
        ((("value", 0.9), ("$", 0.9), (" = 1", 0.1)), "value$"),
        ((("f(x)", 0.9), ("\n    ", 0.9), ("g(x)", 0.1)), "f(x)"),  # no blanks at its end
        ((("a", 0.9), (" =", 0.9), (" 1", 0.1)), ""),  # two signs are not worth reading
        ((("    ", 0.9), ("a", 0.9), (" = 1", 0.1)), ""),
    ],
)
def test_a_beginning_is_worth_reading(parts: Sequence[tuple[str, float]], text: str) -> None:
    assert shown(parts, 60) == text


def test_a_text_is_cut_only_where_the_code_is_whole() -> None:
    asked: list[str] = []

    def may_end_here(beginning: str) -> bool:
        asked.append(beginning)
        return beginning == "total"

    part = shown_part(spoken(*LINE), None, PRODUCT, 45, may_end_here)
    assert part.length == len("total")
    assert asked == ["total +=", "total"], "the longest first"


def test_the_code_is_not_looked_at_where_all_is_shown() -> None:
    def may_end_here(beginning: str) -> bool:
        raise AssertionError(beginning)

    part = shown_part(spoken(*LINE), None, PRODUCT, 30, may_end_here)
    assert part == ShownPart(length=17, probability=pytest.approx(0.9**3 * 0.5))


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
def test_a_higher_percentage_never_shows_more(
    parts: list[tuple[str, float]], one: int, other: int
) -> None:
    assert len(shown(parts, max(one, other))) <= len(shown(parts, min(one, other)))
