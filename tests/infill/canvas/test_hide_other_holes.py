"""What is hidden from the model: the other holes, and TODO notes."""

import pytest

from intarsia.infill.canvas.canvas import Budget, build_canvas, hide_other_holes, hide_todo
from intarsia.infill.holes.hole import Hole, find_hole
from intarsia.infill.languages import language_for_id

PYTHON = language_for_id("python")
TEXT = "def f():\n    @1\n\ndef g():\n    \n\ndef h():\n    @2\n\nx = @3\n"


def hole_at(text, offset):
    hole = find_hole(text, offset, PYTHON)
    assert isinstance(hole, Hole)
    return hole


def test_other_holes_before_are_cut_out_and_the_view_ends_before_the_first_one_after():
    offset = TEXT.index("    \n") + 4
    others = [(TEXT.index(mark), TEXT.index(mark) + 2) for mark in ("@3", "@1", "@2")]
    seen, hole = hide_other_holes(TEXT, hole_at(TEXT, offset), others)
    assert seen == "def f():\n    \n\ndef g():\n    \n\n"
    assert hole.start == hole.end == offset - 2
    assert seen[hole.given_start : hole.start] == " "


def test_a_text_without_other_holes_is_shown_unchanged():
    hole = hole_at(TEXT, 13)
    assert hide_other_holes(TEXT, hole, []) == (TEXT, hole)


@pytest.mark.parametrize(
    ("comment", "seen"),
    [
        ("# TODO: the sum", "# the sum"),
        ("# TODO(me): the sum", "# the sum"),
        ("# FIXME the sum\n    # of all", "# the sum\n    # of all"),
        ("# a comment", "# a comment"),
    ],
)
def test_the_comment_above_the_hole_is_shown_without_its_todo(comment, seen):
    text = f"# TODO: more\nimport os\n\n\ndef f():\n    {comment}\n    "
    canvas = build_canvas(text, hole_at(text, len(text)), PYTHON, Budget())
    shown = hide_todo(canvas)
    assert (shown.prefix + shown.given) == text.replace(comment, seen)


def test_a_todo_further_up_stays():
    text = "def f():\n    # TODO: the sum\n    x = 1\n    "
    canvas = build_canvas(text, hole_at(text, len(text)), PYTHON, Budget())
    assert hide_todo(canvas) == canvas


@pytest.mark.parametrize(
    ("behind", "seen"),
    [
        ("    x = 1\n    @\n", "    x = 1\n"),  # in the hole's own scope
        ("\ny = 2\n\ndef g():\n    if y:\n        @\n", "\ny = 2\n\n"),
        ("x = 1\n@decorated\n# says what\ndef g(): @\n", "x = 1\n"),
        ("\nclass A:\n    x = 1\n\n    def g():\n        @\n", "\n"),
        ("\nint g()\n{\n    @\n}\n", "\n"),
        ("}\n/// Says what.\nfn g() {\n    @\n}\n", "}\n"),
        ("z = f(@)\n", ""),
        ("@", ""),
    ],
)
def test_a_scope_with_another_hole_is_left_out_from_its_header_on(behind, seen):
    text = "def f():\n    \n" + behind
    hole = hole_at(text, text.index("    \n") + 4)
    place = text.rindex("@")
    assert hide_other_holes(text, hole, [(place, place + 1)])[0] == "def f():\n    \n" + seen
