import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.cut_suffix_overlap import cut_suffix_overlap


def check(source, fill, expected, language_id="python"):
    assert cut_suffix_overlap(fill, drawn_hole(source, language_id).context()) == expected


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("f(║)", "x)", "x"),
        ("f(║)", "x)  ", "x"),
        ("f(║)", "g(x)", "g(x)"),
        ("f(║)", "g(x))", "g(x)"),
        ("f(║)", "x);", "x"),
        ("f(║)", "x) + g(y", "x) + g(y"),
        ("f(║)", "x) + g(y)", "x) + g(y"),
        ("f(g(║)", "x)", "x)"),
        ("x = f(g(║), '/')", "a, 0), '/') + 1", "a, 0"),
        ("f(║, b)", "a, b)", "a"),
        ("f(║, b)", "a,", "a"),
        ("x = ║ + b", "a + b", "a"),
        ("x = ║ + g(b)", "a + g(b)", "a"),
        ('print("║")', 'hi")', "hi"),
        ("x = [║]", "1, 2]", "1, 2"),
        ("x = {║}", "'a': 1}", "'a': 1"),
        ("if ║:", "x > 1:", "x > 1"),
        ("x = ║alpha", "data", "data"),
        ("x = ║alpha", "1 + alpha", "1 + "),
        ("self.na║me = 1", "me = 1", ""),
        ("self.na║me = 1", "me = other", ""),
        ("self.na║me = 1", "med_fu", "med_fu"),
        ("f(self.║ame)", "name)", "n"),
        ("f(na║s)", "mes)", "me"),
        ("x = to║l", "tal", "tal"),
    ],
)
def test_the_rest_of_the_line_is_not_written_twice(source, fill, expected):
    check(source, fill, expected)


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("a = 1\n║\nreturn a\n", "b = 2\nreturn a", "b = 2"),
        ("a = 1\n║\n\nreturn a\n", "b = 2\n\nreturn a\n\nmore()", "b = 2\n"),
        ("a = 1\n║\nreturn a\n", "return a", ""),
        ("    ║\n    }\n", "}", ""),
        ("  ║\n}\n", "}", "}"),
        ("a = 1\n║║\n)\n", "b,\n)", "b,"),
        ("a = 1\n║║\n)\n", "f(\n)\ng(\n)\nh()", "f(\n)\ng(\n)\nh()"),
        ("a = 1\n║║\nreturn a\n", "b = 2\nreturn ab", "b = 2\nreturn ab"),
        ("a = 1\n║║\nreturn a\n", "b = 2\nret", "b = 2\nret"),
        ("║║\nx = 1\ny = 2\n", "x = 1\ny = 2\nz = 3", ""),
        ("║║\nx = 1\ny = 2\n", "x = 1\nz = 3", "x = 1\nz = 3"),
        ("║║foo()\nbar()\n", "a()\nfoo()\nbar()", "a()"),
        ("x = ║║ + 1\ny = 2\n", "a + 1\ny = 2\nz", "a"),
        ("a = 1\r\n║║\r\nreturn a\r\n", "b = 2\nreturn a", "b = 2"),
    ],
)
def test_the_lines_after_the_hole_are_not_written_twice(source, fill, expected):
    check(source, fill, expected)
