"""The sure start of a text, and what is left of its tokens once some has been typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.confidence import ConfidentToken, sure_start, without_end, without_start

tokens_of_any_kind = st.lists(
    st.builds(ConfidentToken, st.text("ab \n", max_size=4), st.floats(0, 1)), max_size=8
)


def joined(tokens: object) -> str:
    assert isinstance(tokens, list | tuple)
    return "".join(token.text for token in tokens)


def spoken(*parts: tuple[str, float | None]) -> list[ConfidentToken]:
    return [ConfidentToken(text, confidence) for text, confidence in parts]


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
def test_a_text_is_sure_up_to_its_first_unsure_token(
    parts: list[tuple[str, float | None]], sure: str
) -> None:
    assert sure_start(spoken(*parts), 0.7) == sure


@given(tokens_of_any_kind, st.floats(0, 1))
def test_the_sure_start_ends_before_the_first_unsure_token_without_trailing_blanks(
    tokens: list[ConfidentToken], least: float
) -> None:
    sure = sure_start(tokens, least)
    assert joined(tokens).startswith(sure)
    assert sure == joined(tokens) or sure == sure.rstrip()


@given(tokens_of_any_kind, st.integers(0, 40))
def test_taking_the_start_away_leaves_the_rest_and_each_confidence(
    tokens: list[ConfidentToken], length: int
) -> None:
    left = without_start(tokens, length)
    assert joined(left) == joined(tokens)[length:]
    confidences = [token.confidence for token in tokens if token.text]
    assert [token.confidence for token in left] == confidences[len(confidences) - len(left) :]


@given(tokens_of_any_kind, st.integers(0, 20))
def test_start_and_end_together_are_the_whole_text(
    tokens: list[ConfidentToken], length: int
) -> None:
    start, rest = without_end(tokens, length), without_start(tokens, length)
    assert joined(start) == joined(tokens)[:length]
    assert joined(start) + joined(rest) == joined(tokens)
