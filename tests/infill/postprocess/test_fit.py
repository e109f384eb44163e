"""How a fill is made to fit: tokens at its edges, brackets, indentation, line ends, errors."""

import tomllib
from pathlib import Path

import pytest
from drawn_hole import drawn_hole
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.canvas import Budget, build_canvas
from intarsia.infill.filling.judged import align
from intarsia.infill.holes.hole import Hole, find_hole
from intarsia.infill.languages import language_for_id
from intarsia.infill.postprocess.clean import (
    clean,
)
from intarsia.infill.postprocess.fit import shorten_or_reject
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, Suggestion

DRAWN = tomllib.loads(Path(__file__).with_name("rejected.toml").read_text(encoding="utf-8"))

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
def test_each_character_keeps_its_token_and_what_was_added_is_sure(raw, text, expected):
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
    canvas = build_canvas(hole, Budget())
    cleaned = clean("".join(raw), hole, canvas)
    if isinstance(cleaned, Suggestion):
        numbers = [number for _, number in spoken(align(written(*raw), cleaned.text))]
        known = [number for number in numbers if number is not None]
        assert known == sorted(known)


def test_only_the_first_of_very_many_lines_are_matched() -> None:
    written = [ConfidentToken("a\n", 0.5)] * 3_000
    aligned = align(written, "b\n" + "a\n" * 2_000 + "c")
    assert "".join(token.text for token in aligned) == "b\n" + "a\n" * 2_000 + "c"
    assert {token.confidence for token in aligned} == {0.5, 1.0}


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("def f():\n    ║\n", '"""Sort.\n\n    >>> f()\n    [1', '"""Sort."""'),
        ("def f():║\n", "\n    r'''Sort.\n\n    All", "\n    r'''Sort.'''"),
        (
            "class A:\n\tdef f(self):\n\t\t║\n",
            '"""\n\t\tSort.\n\t\n\t\tArgs:',
            '"""\n\t\tSort.\n\t\t"""',
        ),
        ("def f():\n    ║\n", '"""Sort the\n    rows', None),  # in the middle of the summary
        ("def f():\n    ║\n", '"""Sort.\n\n    All.\n    """\n    g()', ...),
        ('def f():\n    """Sort.\n║\n    """\n', '\n    """Other.\n\n    All', None),
    ],
)
def test_a_docstring_that_the_hole_had_no_room_for_ends_with_its_summary(source, fill, expected):
    cleaned = drawn_hole(source, "python").clean(fill)
    text = cleaned.text if isinstance(cleaned, Suggestion) else None
    assert text == (fill if expected is ... else expected)


@pytest.mark.parametrize(("language_id", "source"), DRAWN["open_string"]["cases"])
@pytest.mark.parametrize("fill", ["'", '"', "'abc", '"abc', "'bg:#", "g('abc", "'a' + 'b"])
def test_a_string_of_one_line_is_not_left_open(language_id: str, source: str, fill: str) -> None:
    assert isinstance(drawn_hole(source, language_id).clean(fill), NoSuggestion)


FAR = "  f(a);\n" * 1_000


@pytest.mark.parametrize(
    ("language_id", "source", "fill"),
    [
        # A bracket that was opened far above, or between marks that are no quotes.
        ("plaintext", f"module m {{\n{FAR}║\n", "}"),
        ("plaintext", "f x' (g y')\n  = h (║\n", "x' y')"),
        ("plaintext", "set (a\n  ON)\nset (║\n", "b)"),
        ("plaintext", "(define (f)\n  (list 'a #'b\n║\n\n(g)\n", '  (h #\'c "(")))'),
        ("plaintext", '(defun f ()\n"Do.\nSo"\n  (a\n    ║\n    d)))\n', "(b (c)"),
        # Backquotes that stand alone in other lines, too.
        ("plaintext", "  | `A -> 1\n  | ║\n", "`B of t"),
        ("plaintext", '"a`n"\n║\n', 'say "b`n"'),
        # A key of YAML that has what is below for its value, or is beside it.
        ("yaml", "on:\n  push:\n    ║\n      - main\n", "branches:"),
        ("yaml", "a:\n  ║\n  c: 2\n", "b: 1"),
        ("yaml", "a:\n  - b: 1\n    ║\n  - b: 2\n", "c: d"),
    ],
)
def test_what_is_no_fault_is_kept(language_id: str, source: str, fill: str) -> None:
    found = drawn_hole(source, language_id).clean(fill)
    assert isinstance(found, Suggestion), found
    assert found.text == fill


@pytest.mark.parametrize("fill", ["'''", '"""abc'])
def test_a_string_of_lines_is_not_begun_where_there_is_none(fill: str) -> None:
    for language_id, source in (("rust", "fn f() {\n    x(║\n}\n"), ("javascript", "f(║\n")):
        assert isinstance(drawn_hole(source, language_id).clean(fill), NoSuggestion)


@pytest.mark.parametrize(("language_id", "source", "fill", "reason"), DRAWN["broken"]["cases"])
def test_a_file_must_not_parse_worse(language_id, source, fill, reason):
    result = shorten_or_reject(fill, drawn_hole(source, language_id).context())
    assert result == NoSuggestion(reason=reason, kind="broken")
