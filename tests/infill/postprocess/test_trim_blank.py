import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.trim_blank import trim_blank


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("x = ║\n", " 1  ", "1"),
        ("x =║\n", " 1  ", " 1"),
        ("f(║)", "a ", "a"),
        ("f(a, ║)", " b", "b"),
        ("x = ║b", "a + ", "a + "),
        ("x = ║ + b", "a ", "a"),
        ("import {║}", " a ", " a "),
        ("def f():║\n", "\n    a\n\n", "\n    a"),
        ("    ║\n", "a\n", "a"),
    ],
)
def test_blanks_that_are_there_already_go(source, fill, expected):
    assert trim_blank(fill, drawn_hole(source).context()) == expected
