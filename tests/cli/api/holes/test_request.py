"""What is read of a long text: whole lines near the hole."""

from hypothesis import given
from hypothesis import strategies as st

from intarsia.cli.api.holes.request import NEAR_CHARS, Context, near_hole


@given(st.integers(0, 3 * NEAR_CHARS), st.integers(1, NEAR_CHARS))
def test_a_long_text_keeps_whole_lines_near_the_hole(num_chars: int, line_chars: int):
    text = (("x" * (line_chars - 1) + "\n") * (num_chars // line_chars + 1))[:num_chars]
    near = near_hole(Context(prefix=text, suffix=text))
    assert text.endswith(near.prefix) and text.startswith(near.suffix)
    assert len(near.prefix) <= NEAR_CHARS >= len(near.suffix)
    if num_chars <= NEAR_CHARS:
        assert near.prefix == near.suffix == text
    else:
        assert text[: -len(near.prefix) or None].endswith("\n")
        assert near.suffix.endswith("\n")


def test_a_long_line_is_cut():
    near = near_hole(Context(prefix="a" * 2 * NEAR_CHARS, suffix="b" * 2 * NEAR_CHARS))
    assert (near.prefix, near.suffix) == ("a" * NEAR_CHARS, "b" * NEAR_CHARS)
