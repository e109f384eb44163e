import pytest

from intarsia.infill.syntax.brackets import balance_of, opener_of


@pytest.mark.parametrize(
    ("code", "unmatched", "unclosed"),
    [
        ("f(a)[b]{c}", (), ()),
        ("a)", (1,), ()),
        ("f(", (), (1,)),
        ("f(')')", (), ()),
        ("it's (a) dog", (), ()),
        ('"a\\")" )', (7,), ()),
        ("(]", (1,), (0,)),
        ("`(`", (), ()),
    ],
)
def test_brackets_are_matched_outside_strings(code, unmatched, unclosed):
    balance = balance_of(code)
    assert (balance.unmatched, balance.unclosed) == (unmatched, unclosed)


def test_opener_of_a_closing_bracket():
    assert opener_of("f(a, (b),\n c)", 12) == 1
    assert opener_of("a)", 1) is None
    assert opener_of("[a)", 2) is None
