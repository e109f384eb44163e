"""Which ends of a fill count as a repetition of what follows."""

import pytest

from intarsia_research.evaluation.suffix_repetition import repeats_suffix


def check(drawn: str, text: str) -> bool:
    prefix, _, suffix = drawn.partition("║")
    return repeats_suffix(prefix, text, suffix)


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ("a\n║\nreturn a\n", "b\nreturn a"),
        ("a\n║\nreturn a\n", "return a"),
        ("a\n║\n\nreturn a\n", "b\n\nreturn a\n"),
        ("    ║\n    return a\n", "return a"),
        ("if a:║\nreturn a\n", "\n    b\nreturn a"),
        ("║\nx = 1\ny = 2\nz = 3\n", "w = 0\nx = 1\ny = 2"),
        ("║\nx = 1\ny = 2\nz = 3\n", "w = 0\nx = 1\ny ="),
        ("║\r\nx = 1\r\n", "w\nx = 1"),
        ("f() {\n  ║\n}\n", "a;\n}"),
    ],
)
def test_the_lines_below_are_repeated(drawn, text):
    assert check(drawn, text)


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ("a\n║\nreturn a\n", "return b"),
        ("a\n║\nreturn a\n", "return ab"),
        ("a\n║\nreturn a\n", "retur"),
        ("a\n║\nreturn a\n", "return a\nb = 2"),
        ("if a:║\nreturn a\n", "\n    return a"),
        ("║\nx = 1\n", ""),
        ("║\nx = 1\n", " \n "),
        ("x = 1\n║", "x = 1"),
        ("║", "x"),
        ("    {\n      ║\n    }\n", "if (a) {\n      }"),
        ("if a:║\nif a:\n    b\n", "\n    b"),
    ],
)
def test_other_lines_are_no_repetition(drawn, text):
    assert not check(drawn, text)


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ("f(║, key=1)", "a, key=1)"),
        ("f(║, key=1)", "a, key"),
        ("x = ║ + bar\n", "a + bar  "),
        ("re║turn x\n", "return x"),
        ("f(║)\nreturn a\n", "x)\nreturn a"),
        ("f(║)\nreturn a\nb\n", "x)\nreturn a\nb"),
    ],
)
def test_the_rest_of_the_line_is_repeated(drawn, text):
    assert check(drawn, text)


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ("f(║)", "g(x)"),
        ("f(║));\n", "g(h(x));"),
        ("f(║, b)", "a, b"),
        ("f(║, key=1)", "a, key=2)"),
        ("f(║, key=1)", "a, key=1)\nmore"),
        ("f(║)\nreturn a\n", "x)\nreturn b"),
    ],
)
def test_brackets_alone_and_other_text_are_none(drawn, text):
    assert not check(drawn, text)
