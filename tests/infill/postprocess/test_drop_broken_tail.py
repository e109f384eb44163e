import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.drop_broken_tail import drop_broken_tail


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("def f():\n    ║\n", "a = 1\n    b = g(a,", "a = 1"),
        ("def f():\n    ║\n", "a = 1\n    b = 2", "a = 1\n    b = 2"),
        ("def f():\n    ║\n", "a = 1\n    b = [\n        c,\n        d,", "a = 1"),
        ("def f():\n    ║\n", "a = [\n        c,", "a = [\n        c,"),
        ("x = ║\n", "f(", "f("),
    ],
)
def test_lines_that_the_model_did_not_finish_go(source, fill, expected):
    assert drop_broken_tail(fill, drawn_hole(source).context()) == expected


def test_plain_text_cannot_be_broken():
    assert drop_broken_tail("a\n(b", drawn_hole("║║", "plaintext").context()) == "a\n(b"
