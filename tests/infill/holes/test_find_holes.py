"""The holes of a file, as drawn in placeholders.toml, at a cursor, and for documentation."""

import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from code_like_text import languages, texts
from drawn_hole import drawn_hole
from hypothesis import given, settings
from hypothesis import strategies as st
from marked_text import read_marked

from intarsia.infill.canvas import Budget, build_canvas
from intarsia.infill.holes.find_holes import find_holes, holes_within, is_stub, undocumented
from intarsia.infill.holes.hole import (
    Hole,
    MarkedHole,
    OpenHole,
    check_disjoint,
    find_hole,
    given_start,
    hole_for_range,
    open_marked,
)
from intarsia.infill.languages import PLAIN_TEXT, all_languages, language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.embedded_code import MAX_CHARS
from intarsia.infill.syntax.tree import MAX_LINE_CHARS

PYTHON = language_for_id("python")
RUST = language_for_id("rust")


def drawn(file: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))


CASES = [
    pytest.param(case, id=f"{case['language']}: {case['name']}")
    for case in drawn("placeholders.toml")["case"]
]


def draw(text, holes):
    """Draw each hole as ``⟦what is replaced→what it becomes⟧``, ``◌`` being the fill."""
    for hole in reversed(holes):
        new = f"→{hole.before}◌{hole.after}" if hole.before or hole.after else ""
        text = f"{text[: hole.start]}⟦{text[hole.start : hole.end]}{new}⟧{text[hole.end :]}"
    return text


def opened(text, language, **options):
    (hole,) = find_holes(text, language, **options)
    found = open_marked(text, hole, language)
    assert isinstance(found, OpenHole), found
    return found


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    holes = find_holes(case["source"], language_for_id(case["language"]))
    assert draw(case["source"], holes) == case["drawn"]


def test_the_cases_cover_every_row():
    told = {language_for_id(param.values[0]["language"]).holes for param in CASES}
    assert {language.holes for language in all_languages()} - {""} <= told


def test_a_stub_file_has_none_but_marks():
    text = "def f(x: int) -> int: ...\n# FILL\n"
    assert is_stub("/lib/Thing.PYI") and not is_stub("thing.py")
    assert draw(text, find_holes(text, PYTHON, marks=["# FILL"], is_stub=True)) == (
        "def f(x: int) -> int: ...\n⟦# FILL⟧\n"
    )


def test_marks_are_found_in_any_text_the_longer_one_first():
    text = "Dear @@@,\n@@\n"
    holes = find_holes(text, PLAIN_TEXT, marks=["@@", "@@@", ""])
    assert draw(text, holes) == "Dear ⟦@@@⟧,\n⟦@@⟧\n"


def test_marks_are_found_in_strings_and_comments_too():
    text = 's = "<<X>>"  # <<X>>\n'
    assert draw(text, find_holes(text, PYTHON, marks=["<<X>>"])) == 's = "⟦<<X>>⟧"  # ⟦<<X>>⟧\n'


def test_a_mark_takes_precedence_over_the_placeholder_around_it():
    text = "def f(x):\n    # FILL\n"
    assert draw(text, find_holes(text, PYTHON, marks=["# FILL"])) == "def f(x):\n    ⟦# FILL⟧\n"


def test_a_text_beyond_the_parser_has_only_marks():
    text = "x = '" + "y" * MAX_LINE_CHARS + "'\ndef f(): ...\n@@\n"
    holes = find_holes(text, PYTHON, marks=["@@"])
    assert [text[hole.start : hole.end] for hole in holes] == ["@@"]


def test_a_document_beyond_the_limit_has_only_marks():
    text = "```python\ndef f(): ...\n```\n@@\n" + "text\n" * (MAX_CHARS // 5)
    holes = find_holes(text, language_for_id("markdown"), marks=["@@"])
    assert [text[hole.start : hole.end] for hole in holes] == ["@@"]


def test_only_holes_that_are_wholly_in_a_range_are_within_it():
    text = "fn f() {\n    todo!()\n}\nfn g() {\n    todo!()\n}\n"
    first, second = find_holes(text, RUST)
    assert holes_within((first, second), 0, first.end) == (first,)
    assert holes_within((first, second), first.start + 1, len(text)) == (second,)
    assert holes_within((first, second), 0, len(text)) == (first, second)


@pytest.mark.parametrize(
    ("language", "text", "kind", "min_indent"),
    [
        (PYTHON, "def f(x):\n    ...\n", "block", 4),
        (PYTHON, "def f(x): ...\n", "block", 4),
        (PYTHON, "def f(x):\n    y = 1\n    ...\n", "statements", 4),
        (PYTHON, "...\n", "statements", 0),
        (RUST, "fn f() {\n    todo!()\n}\n", "block", 1),
        (RUST, "fn f() {\n    g();\n    todo!()\n}\n", "statements", 4),
        (RUST, "fn f() {\n    let x = todo!();\n}\n", "line", 0),
    ],
)
def test_a_body_may_have_several_lines_indented_further_than_its_header(
    language, text, kind, min_indent
):
    found = opened(text, language)
    canvas = build_canvas(found.hole, Budget())
    assert (found.hole.kind, canvas.min_indent) == (kind, min_indent)
    assert (found.hole.max_lines > 1) == (kind != "line")


def test_a_fill_gets_lines_of_its_own_in_a_body_on_one_line():
    found = opened("impl A {\n    fn f() {}\n}\n", RUST)
    assert found.shown == "impl A {\n    fn f() {\n        \n    }\n}\n"
    assert found.hole.start == found.shown.index("        \n") + 8


def test_a_line_too_long_to_be_filled_gives_the_reason():
    text = "@@x" + "x" * MAX_LINE_CHARS
    (hole,) = find_holes(text, PLAIN_TEXT, marks=["@@"])
    assert "the line is too long" in open_marked(text, hole, PLAIN_TEXT).reason


@settings(max_examples=200)
@given(texts, languages, st.lists(st.sampled_from(["@@", "x", "\r", "😀"]), max_size=2))
def test_places_are_in_order_apart_and_inside_any_text(text, language, marks):
    holes = find_holes(text, language, marks=marks)
    assert all(0 <= hole.start <= hole.end <= len(text) for hole in holes)
    assert all(left.end < right.start for left, right in pairwise(holes))
    for hole in holes:
        found = open_marked(text, hole, language)
        if isinstance(found, OpenHole):
            kept = found.shown[: found.start] + text[found.start : found.end]
            assert kept + found.shown[found.start + len(hole.before + hole.after) :] == text
            assert found.hole.start == found.hole.end


def test_placeholders_in_the_fences_of_a_document():
    text = (
        "# T\n\n...\n\n```python\ndef f():\n    ...\n```\n\n"
        "- ```rust\n  fn g() { todo!() }\n  ```\n"
        "\n```\ndef h(): ...\n```\n\n> ```python\n> def f(): ...\n> ```\n"
    )
    holes = find_holes(text, language_for_id("markdown"))
    assert [text[hole.start : hole.end].strip() for hole in holes] == ["...", "todo!()"]
    assert holes[0].start == text.index("    ...") + 4


def test_a_placeholder_in_a_fence_gets_lines_of_its_own():
    text = "- ```js\n  function f() {}\n  ```\n"
    (hole,) = find_holes(text, language_for_id("markdown"))
    assert (hole.before, hole.after) == ("\n    ", "\n  ")
    opened = open_marked(text, hole, language_for_id("markdown"))
    assert isinstance(opened, OpenHole)
    assert opened.hole.kind == "block"


PLACES = drawn("cursors.toml")


@pytest.mark.parametrize(("source", "kind", "max_lines"), PLACES["cursor"]["cases"])
def test_a_cursor_asks_for_a_line_or_for_a_body(source, kind, max_lines):
    hole = drawn_hole(source).hole
    assert (hole.kind, hole.max_lines) == (kind, max_lines)


@pytest.mark.parametrize("source", ["f(║)", "a ║+ b", "na║me", "{║}", "x║\r\n", "║", "\ufeffx║"])
def test_a_cursor_replaces_nothing(source):
    drawn = drawn_hole(source)
    assert drawn.hole.start == drawn.hole.end == source.index("║")


@pytest.mark.parametrize(("source", "kind"), PLACES["range"]["cases"])
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
        reason="the text contains NUL characters, so it looks binary"
    )
    found = find_hole("x" * (MAX_LINE_CHARS + 1), 5, PYTHON)
    assert isinstance(found, NoSuggestion) and "the line is too long: 20,001" in found.reason
    assert isinstance(find_hole("y\n" + "x" * 1_000_000, 1, PYTHON), Hole)


LONG_WORDS = [
    ("a" * 100 + "║", "a" * 64),
    ("-" + "a" * 63 + "║", "-" + "a" * 63),
    ("-" + "a" * 64 + "║", "a" * 64),
]


@pytest.mark.parametrize(("source", "given"), [*PLACES["begins"]["cases"], *LONG_WORDS])
def test_the_fill_begins_at_the_half_word_and_the_mark_before_it(source, given):
    marked = read_marked(source)
    assert marked.text[given_start(marked.text, marked.start) : marked.start] == given


def place(drawing: str, language: str) -> str:
    """Return the text with the place as ``◌``, or the reason; ``‸`` is the cursor."""
    cursor, text = drawing.index("‸"), drawing.replace("‸", "")
    found = undocumented(text, cursor, cursor, language_for_id(language))
    if not isinstance(found, MarkedHole):
        return found.reason
    return f"{text[: found.start]}{found.before}◌{found.after}{text[found.end :]}"


@pytest.mark.parametrize(
    ("language", "drawing", "expected"),
    [case for cases in drawn("documentation.toml").values() for case in cases],
)
def test_documentation_is_written_where_the_language_has_it_or_there_is_a_reason(
    language, drawing, expected
):
    assert expected in place(drawing, language)
