import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.canvas.window import (
    FEWEST_KEPT,
    MOST_KEPT,
    Window,
    budget_chars,
    prefix_start,
    suffix_end,
    window_of,
)
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.parse import parse

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
