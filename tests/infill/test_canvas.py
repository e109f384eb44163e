"""The part of a file around a hole that the model sees: its edges, and what is hidden from it."""

import tomllib
from pathlib import Path

import pytest
from drawn_hole import drawn_hole
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.canvas import (
    _CLOSING_ONLY,
    FEWEST_KEPT,
    MAX_STOP_CHARS,
    MOST_KEPT,
    Budget,
    Window,
    budget_chars,
    build_canvas,
    hide_other_holes,
    hide_todo,
    is_specific,
    prefix_start,
    suffix_end,
    window_of,
)
from intarsia.infill.holes.hole import Hole, find_hole
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.tree import parse

DRAWN = tomllib.loads(Path(__file__).with_name("canvas.toml").read_text(encoding="utf-8"))


def test_a_canvas_is_the_text_around_the_hole():
    canvas = drawn_hole("import os\n\nx = os.pa║\ny = 1\n").canvas()
    assert canvas.prefix == "import os\n\nx = os"
    assert canvas.given == ".pa"
    assert canvas.suffix == "\ny = 1\n"
    assert (canvas.kind, canvas.language, canvas.stop) == ("line", "python", ("\n",))
    assert (canvas.max_open, canvas.min_indent, canvas.max_tokens) == (0, 0, 96)


def test_line_ends_and_byte_order_mark_are_not_shown():
    canvas = drawn_hole("\ufeffa = 1\r\nb = ║\r\nc = 2\r\n").canvas()
    assert canvas.prefix + canvas.given == "a = 1\nb = "
    assert canvas.suffix == "\nc = 2\n"


def test_what_the_range_holds_is_not_shown():
    canvas = drawn_hole("a = 1\n║secret = 2\n║b = 3\n").canvas()
    assert canvas.prefix + canvas.given + canvas.suffix == "a = 1\nb = 3\n"


def test_prefix_and_suffix_keep_to_the_budget():
    drawn = drawn_hole("a = 1\n" * 2000 + "b = ║\n" + "c = 1\n" * 2000)
    canvas = drawn.canvas(Budget(prefix_tokens=100, suffix_tokens=20, hole_tokens=9))
    assert 200 < len(canvas.prefix + canvas.given) <= 320 + 2
    assert 40 < len(canvas.suffix) <= 64
    assert canvas.max_tokens == 96


@pytest.mark.parametrize(("language_id", "source", "min_indent", "stop"), DRAWN["ends"]["cases"])
def test_where_a_hole_of_several_lines_ends(language_id, source, min_indent, stop):
    canvas = drawn_hole(source, language_id).canvas(Budget(hole_tokens=77))
    assert (canvas.min_indent, [*canvas.stop], canvas.max_tokens) == (min_indent, stop, 77)


@pytest.mark.parametrize(
    ("language_id", "source", "max_open"),
    [
        ("python", "x = ║\n", 0),
        ("javascript", "function f() {\n  a()\n  ║\n}\n", 0),
        ("javascript", "function f() {\n  ║\n    a()\n  }\n}\n", 1),
        ("javascript", "║\n  a(() => {\n  })\n})\n", 2),
        ("rust", "f(a;\nif let Some(x) = y║\n    h(x);\n}\n", 1),  # of the body below
        ("python", "x = f(║)\n", None),  # the rest of its line follows
        ("python", "x = ║1║\n", None),  # a range stays within its line
        ("python", "# see ║\n", None),
        ("python", 'x = """\n║\n"""\n', None),
        ("plaintext", "one ║\n", 0),
        ("plaintext", "a)\nf {\n  one ║\n}\nb)\n", 1),  # of the two, one is behind the hole
        ("markdown", "one ║\n", None),
        ("python", "def f():\n    ║\n", None),  # a block
    ],
)
def test_how_many_brackets_a_line_may_leave_open(language_id, source, max_open):
    canvas = drawn_hole(source, language_id).canvas()
    assert (canvas.max_open, type(canvas.max_open)) == (max_open, type(max_open))
    is_statement = max_open is not None and language_id != "plaintext"
    assert canvas.max_tokens == (128 if canvas.kind == "block" else 96 if is_statement else 48)


def test_brackets_of_a_long_text_are_not_counted():
    assert drawn_hole("x = 1\n" * 20_000 + "y = ║\n").canvas().max_open is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("mark", [")", "} ", "end"])
def test_a_line_of_a_megabyte_takes_no_minutes(mark):
    """A pattern of quadratic time would take more than an hour for the first of these lines."""
    line = mark * 1_000_000 + "x"
    assert not _CLOSING_ONLY.fullmatch(line)
    (stop,) = drawn_hole(f"def f():\n    ║\n\nx{line}\n").canvas().stop
    assert stop == f"\nx{line}"[:MAX_STOP_CHARS]
    assert drawn_hole(f"def f():\n    ║\n{line}\n").canvas().min_indent == 4
    assert drawn_hole(f"function f() {{\n  a();\n║║\n{line}\n").canvas().max_tokens


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        *((line, False) for line in ("});", "  end)", "))fi;", "esac", "]]]")),
        *((line, True) for line in ("return", "end()x", "ends", "end end", ")]x", "}else")),
    ],
)
def test_a_line_of_closing_marks_is_not_specific(line, expected):
    assert is_specific(line) is expected


PYTHON = language_for_id("python")
LINES = "".join(f"line_{number:02} = {number}\n" for number in range(50))
DEFINITIONS = "".join(f"def f{it}():\n    a = {it}\n    return a\n\n\n" for it in range(40))


def test_a_text_within_the_budget_is_kept_whole():
    assert prefix_start(LINES, len(LINES), 10_000, None) == 0
    assert suffix_end(LINES, 0, 10_000, None) == len(LINES)


@pytest.mark.parametrize("num_tokens", [10, 33, 50, 99])
def test_both_sides_are_cut_at_line_edges(num_tokens):
    start = prefix_start(LINES, len(LINES), num_tokens, None)
    end = suffix_end(LINES, 0, num_tokens, None)
    assert LINES[start - 1] == "\n" == LINES[end - 1]
    assert len(LINES) - start <= budget_chars(num_tokens) >= end
    assert len(LINES) - start > budget_chars(num_tokens) - 12 < end + 0


def test_a_definition_is_not_cut_in_two_where_a_little_less_will_do():
    syntax = parse(DEFINITIONS, PYTHON)
    start = prefix_start(DEFINITIONS, len(DEFINITIONS), 200, syntax)
    end = suffix_end(DEFINITIONS, 0, 200, syntax)
    assert DEFINITIONS[start:].startswith("def f")
    assert DEFINITIONS[end:].startswith("def f")


def test_one_long_line_is_cut_at_a_word_edge():
    text = "alpha beta " * 50
    start = prefix_start(text, len(text), 10, None)
    end = suffix_end(text, 0, 10, None)
    assert text[start:].startswith(("alpha", "beta", " "))
    assert not (text[start - 1].isalpha() and text[start].isalpha())
    assert not (text[end - 1].isalpha() and text[end].isalpha())
    assert len(text) - start <= 32 >= end


@pytest.mark.parametrize(
    "unit",
    [
        "e\u0301",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\ud83d\ude00",
        "\U0001f1e9\U0001f1ea",
    ],
    ids=["accent", "family", "surrogates", "flag"],
)
def test_a_cut_splits_no_visible_character(unit):
    text = (unit + " ") * 40
    edges = set(range(0, len(text), len(unit) + 1)) | set(
        range(len(unit), len(text) + 1, len(unit) + 1)
    )
    for num_tokens in range(1, 30):
        assert prefix_start(text, len(text), num_tokens, None) in edges
        assert suffix_end(text, 0, num_tokens, None) in edges


def test_a_cut_splits_no_crlf():
    text = "ab\r\n" * 40
    for num_tokens in range(40):
        for edge in (
            prefix_start(text, len(text), num_tokens, None),
            suffix_end(text, 0, num_tokens, None),
        ):
            assert text[edge - 1 : edge + 1] != "\r\n"


def test_without_a_budget_nothing_is_shown():
    assert prefix_start(LINES, len(LINES), 0, None) == len(LINES)
    assert suffix_end(LINES, 0, 0, None) == 0


CODE = "".join(f"value_{number:03} = compute({number})\n" for number in range(400))
BUDGET = 500
CHARS = budget_chars(BUDGET)


def window_at(text: str, hole: int, *earlier: Window) -> Window:
    start = prefix_start(text, hole, BUDGET, None, earlier)
    end = suffix_end(text, hole, BUDGET, None, earlier)
    return window_of(text, start, hole, text[hole:end])


def line(number: int) -> int:
    return CODE.index(f"value_{number:03}")


@pytest.mark.parametrize("num_lines", [-25, -10, -1, 0, 1, 10, 25])
def test_the_start_stays_for_a_jump_of_less_than_half_of_the_budget(num_lines: int):
    first = window_at(CODE, line(200))
    assert window_at(CODE, line(200 + num_lines), first).start == first.start
    assert num_lines == 0 or window_at(CODE, line(200 + num_lines)).start != first.start


@pytest.mark.parametrize("num_lines", [-150, -40, 40, 150])
def test_after_a_longer_jump_the_start_is_where_it_would_be_without_the_first(num_lines: int):
    place = line(200 + num_lines)
    assert window_at(CODE, place, window_at(CODE, line(200))) == window_at(CODE, place)


@given(st.integers(0, 399), st.integers(0, 399))
def test_a_kept_prefix_has_between_half_and_one_and_a_half_of_the_budget(one: int, other: int):
    window = window_at(CODE, line(other), window_at(CODE, line(one)))
    length = line(other) - window.start
    assert length <= MOST_KEPT * CHARS
    assert window.start == 0 or length >= FEWEST_KEPT * CHARS


def test_while_a_user_types_downwards_the_start_moves_seldom():
    earlier: list[Window] = []
    for number in range(50, 400):
        earlier.insert(0, window_at(CODE, line(number), *earlier[:8]))
    assert len({window.start for window in earlier}) <= 12


def test_back_at_an_earlier_place_its_own_start_is_kept():
    near, far = window_at(CODE, line(200)), window_at(CODE, line(350))
    assert window_at(CODE, line(210), far, near).start == near.start


def test_an_edit_above_the_window_moves_its_start_along():
    first = window_at(CODE, line(200))
    edited = "import os\n" + CODE
    again = window_at(edited, line(200) + 10, first)
    assert edited[again.start :].startswith(CODE[first.start : first.start + 100])


def test_an_edit_at_the_start_of_the_window_is_noticed():
    first = window_at(CODE, line(200))
    edited = CODE[: first.start] + "# not what was there" + CODE[first.start :]
    place = line(200) + len("# not what was there")
    assert window_at(edited, place, first) == window_at(edited, place)


def test_a_line_written_at_the_top_of_a_short_file_is_shown():
    short = CODE[:1000]
    edited = "import os\n" + short
    assert window_at(edited, 800, window_at(short, 790)).start == 0


def test_the_suffix_is_the_same_whatever_is_written_before_it():
    first = window_at(CODE, line(200))
    for typed in ("x", "value = [", "def f(\n", '"""'):
        edited = CODE[: line(200)] + typed + CODE[line(200) :]
        assert window_at(edited, line(200) + len(typed), first).suffix == first.suffix


def test_an_edit_below_is_noticed():
    first = window_at(CODE, line(200))
    edited = CODE[: line(210)] + "other()\n" + CODE[line(210) :]
    assert "other()\n" in window_at(edited, line(200), first).suffix


def test_text_written_at_the_end_of_a_short_file_is_shown():
    short = CODE[:1000]
    edited = short + "other()\n"
    assert window_at(edited, 800, window_at(short, 800)).suffix == edited[800:]


def test_a_suffix_is_not_kept_where_its_end_would_split_a_word():
    first = window_at(CODE, line(200))
    end = line(200) + len(first.suffix)
    assert CODE[end - 1] == "\n"
    text = CODE[:end].rstrip(")\n")
    first = window_at(text, line(200))
    assert window_at(text + "more" * 500, line(200), first).suffix != first.suffix


TEXT = "def f():\n    @1\n\ndef g():\n    \n\ndef h():\n    @2\n\nx = @3\n"


def hole_at(text, offset):
    hole = find_hole(text, offset, PYTHON)
    assert isinstance(hole, Hole)
    return hole


def test_other_holes_before_are_cut_out_and_the_view_ends_before_the_first_one_after():
    offset = TEXT.index("    \n") + 4
    others = [(TEXT.index(mark), TEXT.index(mark) + 2) for mark in ("@3", "@1", "@2")]
    hole = hole_at(TEXT, offset)
    seen, shift = hide_other_holes(TEXT, hole, others)
    assert seen == "def f():\n    \n\ndef g():\n    \n\n"
    assert shift == -2


def test_a_text_without_other_holes_is_shown_unchanged():
    hole = hole_at(TEXT, 13)
    assert hide_other_holes(TEXT, hole, []) == (TEXT, 0)


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
    canvas = build_canvas(hole_at(text, len(text)), Budget())
    shown = hide_todo(canvas)
    assert (shown.prefix + shown.given) == text.replace(comment, seen)


def test_a_todo_further_up_stays():
    text = "def f():\n    # TODO: the sum\n    x = 1\n    "
    canvas = build_canvas(hole_at(text, len(text)), Budget())
    assert hide_todo(canvas) == canvas


@pytest.mark.parametrize(("behind", "seen"), DRAWN["left_out"]["cases"])
def test_a_scope_with_another_hole_is_left_out_from_its_header_on(behind, seen):
    text = "def f():\n    \n" + behind
    hole = hole_at(text, text.index("    \n") + 4)
    place = text.rindex("@")
    assert hide_other_holes(text, hole, [(place, place + 1)])[0] == "def f():\n    \n" + seen
