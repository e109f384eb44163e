"""What is left of an earlier text after what was typed since."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.families.masked_causal.warm_start import rest_after, typed_since


@pytest.mark.parametrize(
    ("typed", "written", "rest"),
    [
        ("tot", "total = f(x)", "al = f(x)"),
        ("", "total", "total"),
        ("total", "total", ""),
        ("totals", "total = f(x)", " = f(x)"),
        ("tosum = ", "total = f(x)", "f(x)"),
        ("total = g", "total = f(x)", "(x)"),
        ("total = g(y, ", "total = f(x, z)", "z)"),
        ("total += ", "total = f(x)", None),
        ("totals and more", "total", None),
        ("é", "e)", ")"),
    ],
)
def test_after_a_word_that_differs_the_rest_is_kept(
    typed: str, written: str, rest: str | None
) -> None:
    found = rest_after(typed.encode(), written.encode())
    assert found == (None if rest is None else rest.encode())


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_what_is_typed_along_leaves_the_rest(typed: bytes, rest: bytes) -> None:
    assert rest_after(typed, typed + rest) == rest


_BEFORE = b"def main(values):\n    total = "


@pytest.mark.parametrize(
    ("now", "typed"),
    [
        (_BEFORE, b""),
        (_BEFORE + b"sum", b"sum"),
        (_BEFORE[:-1], None),  # deleted
        (b"def man(values):\n    total = ", None),  # changed close by
        (_BEFORE + b"x" * 1_000, None),  # far off
    ],
)
def test_a_place_is_known_by_the_text_before_it(now: bytes, typed: bytes | None) -> None:
    assert typed_since(_BEFORE, now) == typed


def test_an_edit_further_up_moves_no_place() -> None:
    before = b"#\n" * 100 + _BEFORE + b"a" * 40
    assert typed_since(before, b"# new\n" + before[3:] + b"+ 1") == b"+ 1"


def test_at_the_start_of_a_file_only_the_same_text_will_do() -> None:
    assert typed_since(b"x", b"x = 1") == b" = 1"
    assert typed_since(b"x", b"y = x") is None
