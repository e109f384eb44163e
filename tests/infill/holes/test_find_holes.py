"""The holes of a file, drawn in placeholders.toml, and properties of any text."""

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from code_like_text import languages, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.canvas.canvas import Budget, build_canvas
from intarsia.infill.holes.find_holes import find_holes, holes_within
from intarsia.infill.holes.hole_rules import RULES, is_stub
from intarsia.infill.holes.marked_hole import OpenHole, open_marked
from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.infill.syntax.embedded_code import MAX_CHARS
from intarsia.infill.syntax.parse import MAX_LINE_CHARS

PYTHON = language_for_id("python")
RUST = language_for_id("rust")
CASES = [
    pytest.param(case, id=f"{case['language']}: {case['name']}")
    for case in tomllib.loads(
        Path(__file__).with_name("placeholders.toml").read_text(encoding="utf-8")
    )["case"]
]


def draw(text, holes):
    """Draw each hole as ``⟦what is replaced→what it becomes⟧``, ``◌`` being the fill."""
    for hole in reversed(holes):
        new = f"→{hole.before}◌{hole.after}" if hole.before or hole.after else ""
        text = f"{text[: hole.start]}⟦{text[hole.start : hole.end]}{new}⟧{text[hole.end :]}"
    return text


def opened(text, language, **options):
    """Return the only hole of a text, opened."""
    (hole,) = find_holes(text, language, **options)
    found = open_marked(text, hole, language)
    assert isinstance(found, OpenHole), found
    return found


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    holes = find_holes(case["source"], language_for_id(case["language"]))
    assert draw(case["source"], holes) == case["drawn"]


def test_the_cases_cover_every_row():
    told = {param.values[0]["language"] for param in CASES}
    assert [row.language_ids for row in RULES if not told & set(row.language_ids)] == []


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
    canvas = build_canvas(found.shown, found.hole, language, Budget())
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
