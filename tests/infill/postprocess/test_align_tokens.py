"""The model's tokens, found again in what cleaning has made of their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.canvas.canvas import Budget, build_canvas
from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.holes.hole import Hole, find_hole
from intarsia.infill.languages import language_for_id
from intarsia.infill.postprocess import clean
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.suggestion import Suggestion

ADDED = 1.0


def written(*texts: str) -> list[ConfidentToken]:
    """Return tokens of the confidences 0.01, 0.02 and so on."""
    return [ConfidentToken(text, number / 100) for number, text in enumerate(texts, 1)]


def spoken(tokens: tuple[ConfidentToken, ...]) -> list[tuple[str, int | None]]:
    """Return each text with its token's number, from 1; None where it was added."""
    return [
        (token.text, None if token.confidence == ADDED else round(token.confidence * 100))
        for token in tokens
    ]


@pytest.mark.parametrize(
    ("raw", "text", "expected"),
    [
        (["foo", "(", ")"], "foo()", [("foo", 1), ("(", 2), (")", 3)]),
        (["  foo", " bar", " baz"], "foo bar", [("foo", 1), (" bar", 2)]),
        (["foo", "bar"], "foob", [("foo", 1), ("b", 2)]),
        (["f", "(a"], "f(a)", [("f", 1), ("(a", 2), (")", None)]),
        (["f", "(a", "))"], "f(a)", [("f", 1), ("(a", 2), (")", 3)]),
        (["a", "\n", "b"], "a\r\nb", [("a", 1), ("\r\n", 2), ("b", 3)]),
        (["a\r", "\nb"], "a\nb", [("a\n", 1), ("b", 2)]),
        (["a", "\n    ", "b"], "a\n\tb", [("a", 1), ("\n\t", 2), ("b", 3)]),
        (["\n\n", "    ", "b", "\n"], "    b", [("    ", 2), ("b", 3)]),
        (
            ["a {", "\n", "  b", "\n", "}", "\n", "c"],
            "a {\n  b",
            [("a {", 1), ("\n", 2), ("  b", 3)],
        ),
        (["{ ", "a", " }"], "{ a\n}", [("{ ", 1), ("a", 2), ("\n", None), ("}", 3)]),
        ([], "x", [("x", None)]),
        (["x"], "", []),
    ],
)
def test_each_character_keeps_its_token_and_what_was_added_is_sure(
    raw: list[str], text: str, expected: list[tuple[str, int | None]]
) -> None:
    assert spoken(align(written(*raw), text)) == expected


pieces = st.lists(st.text("ab( )\n\r\t", max_size=5), max_size=10)


@given(pieces, st.text("ab( )\n\r\t", max_size=30))
def test_whatever_was_written_the_tokens_joined_are_the_text(raw: list[str], text: str) -> None:
    tokens = align(written(*raw), text)
    assert "".join(token.text for token in tokens) == text
    assert all(token.text for token in tokens)


@given(pieces)
def test_an_unchanged_text_gives_the_same_tokens(raw: list[str]) -> None:
    tokens = [token for token in written(*raw) if token.text]
    text = "".join(token.text for token in tokens)
    if "\r" not in text:
        assert list(align(tokens, text)) == tokens


words = st.sampled_from(["foo", "(", ")", " ", "\n    ", "\n\t", "return", "x", ":", "\n", "\n\n"])


@given(
    st.lists(words, max_size=20), st.sampled_from(["y = ", "def f(a):\n    ", "\tif x:\r\n\t\t"])
)
def test_tokens_come_in_the_order_in_which_they_were_written(raw: list[str], before: str) -> None:
    python = language_for_id("python")
    hole = find_hole(before, len(before), python)
    assert isinstance(hole, Hole)
    canvas = build_canvas(before, hole, python, Budget())
    cleaned = clean("".join(raw), before, hole, canvas, python)
    if isinstance(cleaned, Suggestion):
        numbers = [number for _, number in spoken(align(written(*raw), cleaned.text))]
        known = [number for number in numbers if number is not None]
        assert known == sorted(known)


def test_only_the_first_of_very_many_lines_are_matched() -> None:
    written = [ConfidentToken("a\n", 0.5)] * 3_000
    aligned = align(written, "b\n" + "a\n" * 2_000 + "c")
    assert "".join(token.text for token in aligned) == "b\n" + "a\n" * 2_000 + "c"
    assert {token.confidence for token in aligned} == {0.5, 1.0}
