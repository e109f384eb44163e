import pytest
from marked_text import read_marked

from intarsia.infill.syntax.lines import (
    columns,
    last_non_blank,
    line_at,
    line_end,
    newline_of,
    next_line_start,
    next_non_blank_line,
    splits_line_end,
    with_plain_newlines,
)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\nb║c\nd", "bc"),
        ("a\r\nb║c\r\nd", "bc"),
        ("a\rb║c\rd", "bc"),
        ("║", ""),
        ("a\n║", ""),
        ("a║\r\n", "a"),
    ],
)
def test_a_line_ends_at_lf_crlf_or_cr(source, line):
    marked = read_marked(source)
    assert line_at(marked.text, marked.start) == line


def test_next_line_starts_after_the_whole_line_end():
    assert next_line_start("a\r\nb", 0) == 3
    assert next_line_start("a", 0) == 1
    assert line_end("a\r\nb", 0) == 1


def test_newlines_become_lf_and_the_first_one_is_remembered():
    assert with_plain_newlines("a\r\nb\rc\n") == "a\nb\nc\n"
    assert newline_of("a\r\nb\n") == "\r\n"
    assert newline_of("a") == "\n"


def test_next_non_blank_line_skips_blank_ones():
    assert next_non_blank_line("a\n\n  \n b\n", 0) == " b"
    assert next_non_blank_line("a\n\n", 0) is None


def test_tabs_go_on_to_the_next_multiple_of_eight():
    assert [columns(line) for line in ("", "  x", "\tx", "  \tx", "\t x")] == [0, 2, 8, 8, 9]


def test_only_the_middle_of_a_crlf_splits_it():
    assert [splits_line_end("\r\n\r", offset) for offset in range(4)] == [False, True, False, False]


def test_last_non_blank_looks_over_lines():
    assert last_non_blank("a \n\n", 4) == 0
    assert last_non_blank(" \n", 2) == -1
