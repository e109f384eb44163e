"""Where a cursor is, and the hole there; a half-typed token before it."""

import pytest
from drawn_hole import drawn_hole
from marked_text import read_marked

from intarsia.infill.holes.hole import Hole, check_disjoint, find_hole, hole_for_range
from intarsia.infill.holes.token_healing import given_start
from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.parse import MAX_LINE_CHARS

PYTHON = language_for_id("python")


@pytest.mark.parametrize(
    ("source", "kind", "max_lines"),
    [
        ("x = ║", "line", 1),
        ("x = f(║)", "line", 1),
        ("x = ║ + y", "line", 1),
        ("x = na║me", "line", 1),
        ("║", "line", 1),
        ("def f():║", "block", 32),
        ("def f():\n    ║\n", "block", 32),
    ],
)
def test_a_cursor_asks_for_a_line_or_for_a_body(source, kind, max_lines):
    hole = drawn_hole(source).hole
    assert (hole.kind, hole.max_lines) == (kind, max_lines)


@pytest.mark.parametrize("source", ["f(║)", "a ║+ b", "na║me", "{║}", "x║\r\n", "║", "\ufeffx║"])
def test_a_cursor_replaces_nothing(source):
    drawn = drawn_hole(source)
    assert drawn.hole.start == drawn.hole.end == source.index("║")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("x = ║1 + 2║\n", "line"),
        ("x = 1\n║║\ny = 2\n", "span"),
        ("║x = 1\n║y = 2\n", "span"),
        ("x = ║║1\n", "span"),
        ("a║\rb║", "span"),
    ],
)
def test_a_range_in_one_line_is_a_line_and_any_other_a_span(source, kind):
    assert drawn_hole(source).hole.kind == kind


def test_a_range_gives_the_half_word_before_it_to_the_fill():
    drawn = drawn_hole("x = self.na║me║")
    assert drawn.text[drawn.hole.given_start : drawn.hole.start] == ".na"


def test_no_hole_begins_or_ends_inside_a_crlf():
    hole = find_hole("a\r\nb", 2, PLAIN_TEXT)
    assert isinstance(hole, Hole) and hole.start == hole.end == 1
    span = hole_for_range("a\r\nb", 0, 2, PLAIN_TEXT)
    assert (span.start, span.end) == (0, 3)
    assert hole_for_range("a\r\nb", 2, 2, PLAIN_TEXT).start == 1


def test_nothing_is_inserted_before_a_byte_order_mark():
    hole = find_hole("\ufeffx = 1", 0, PYTHON)
    assert isinstance(hole, Hole) and hole.start == hole.given_start == 1


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        *((*at, "outside the text, which has 2 characters") for at in [(-1, -1), (3, 3), (0, 9)]),
        (2, 1, "ends before it starts: 2 > 1"),
    ],
)
def test_a_place_that_is_none_is_refused(start, end, problem):
    with pytest.raises(ValueError, match=problem):
        hole_for_range("ab", start, end, PYTHON)
    with pytest.raises(ValueError, match="position 3 is outside the text"):
        find_hole("ab", 3, PYTHON)


def test_holes_may_touch_but_not_overlap():
    holes = [hole_for_range("abcdef", *ends, PLAIN_TEXT) for ends in ((4, 5), (0, 2), (2, 4))]
    check_disjoint(holes)
    with pytest.raises(ValueError, match="holes overlap: 0-2 and 1-3"):
        check_disjoint([holes[1], hole_for_range("abcdef", 1, 3, PLAIN_TEXT)])
    with pytest.raises(ValueError, match="holes overlap"):
        check_disjoint([holes[0], holes[0]])


def test_a_binary_text_and_a_huge_line_get_a_reason():
    assert find_hole("a\0b", 1, PYTHON) == NoSuggestion(
        reason="the text holds NUL characters, so it looks binary"
    )
    found = find_hole("x" * (MAX_LINE_CHARS + 1), 5, PYTHON)
    assert isinstance(found, NoSuggestion) and "the line is too long: 20,001" in found.reason
    assert isinstance(find_hole("y\n" + "x" * 1_000_000, 1, PYTHON), Hole)


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("    ret║", " ret"),
        ("x.app║", ".app"),
        ("foo(se║", "(se"),
        ("foo║", "foo"),
        ("a = b║", " b"),
        ("    ║", " "),
        ("\t\t║", "\t"),
        ("x\n║", ""),
        ("║", ""),
        ("x\nfoo║", "foo"),
        ("f(║", "("),
        ("naïve 東京║", " 東京"),
        ("x = '😀║", ""),
        ("\ufeffab║", "ab"),
        ("a" * 100 + "║", "a" * 64),
        ("-" + "a" * 63 + "║", "-" + "a" * 63),
        ("-" + "a" * 64 + "║", "a" * 64),
    ],
)
def test_the_fill_begins_at_the_half_word_and_the_mark_before_it(source, given):
    marked = read_marked(source)
    assert marked.text[given_start(marked.text, marked.start) : marked.start] == given
