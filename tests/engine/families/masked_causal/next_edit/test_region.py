"""Which lines are written again, and what of the answer is offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.families.masked_causal.next_edit.corrections import region_of, smallest_change
from intarsia.engine.families.masked_causal.next_edit.drop import best_first, largest_drops
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    EditedLines,
    WindowLine,
    read_lines,
)
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, TextPart

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=7)


def lines(*may_change: bool) -> list[WindowLine]:
    return [
        WindowLine(number=i, start=2 * i, end=2 * i + 2, start_before=2 * i, may_change=may)
        for i, may in enumerate(may_change)
    ]


@pytest.mark.parametrize(
    ("place", "num_above", "expected"),
    [(0, 1, [0]), (3, 0, [3]), (3, 1, [2, 3]), (7, 2, [5, 6, 7]), (6, 2, [6])],
)
def test_a_region_ends_with_the_window_and_at_lines_that_may_not_change(
    place: int, num_above: int, expected: list[int]
) -> None:
    all_lines = lines(True, True, True, True, True, place != 6, True, True)
    region = region_of(all_lines, all_lines[place], num_above)
    assert [line.number for line in region] == expected


@pytest.mark.parametrize("moved", [(10, 12, 4), (4, 6, 9)], ids=["inserted", "removed"])
def test_a_region_ends_where_the_edit_is(moved: tuple[int, int, int]) -> None:
    first, second = lines(True, True)
    start, end, start_before = moved
    third = WindowLine(number=5, start=start, end=end, start_before=start_before, may_change=True)
    assert region_of([first, second, third], third, 2) == [third]
    assert region_of([first, second, third], second, 2) == [first, second]


@given(old=LINES, new=LINES, place=st.integers(0, 6))
def test_one_change_leaves_the_other_lines_alone(old: list[str], new: list[str], place: int):
    change = smallest_change(old, new, place)
    if change is None:
        assert old == new
        return
    end = change.first + change.num_lines
    applied = [*old[: change.first], *change.new_lines, *old[end:]]
    assert applied != old
    assert smallest_change(applied, new, place) != change or applied == new


def test_the_change_nearest_to_the_place_is_chosen() -> None:
    old, new = ["a\n", "b\n", "c\n", "d\n", "e\n"], ["A\n", "b\n", "c\n", "D\n", "e\n"]
    near_start, near_end = smallest_change(old, new, 1), smallest_change(old, new, 4)
    assert near_start is not None and (near_start.first, near_start.new_lines) == (0, ["A\n"])
    assert near_end is not None and (near_end.first, near_end.new_lines) == (3, ["D\n"])


def test_an_insertion_replaces_no_line() -> None:
    change = smallest_change(["a\n", "b\n"], ["a\n", "x\n", "b\n"], 1)
    assert change is not None
    assert (change.first, change.num_lines, change.new_lines) == (1, 0, ["x\n"])


WINDOW = ("x = 1\n", "y = old(3)\n", "call(other)\n", "z = new(3)\n")
RENAME = EditExample(before="a = old(1)\n", after="a = new(1)\n")


def window() -> EditedLines:
    text = "".join(WINDOW)
    part = TextPart(before=text, after=text, may_change=True)
    return read_lines(FindNextEdits(id=1, parts=(part,), example=None))


def ranked(losses: dict[int, list[float]], example: EditExample = RENAME) -> list[int]:
    lines = window()
    tokens = [(lines.lines[n], loss) for n, own in losses.items() for loss in own]
    return [it.line.number for it in best_first(largest_drops(tokens), lines.after, example)]


def test_the_larger_drop_comes_first_where_nothing_else_differs() -> None:
    assert ranked({0: [2.0], 2: [3.0]}) == [2, 0]


def test_a_line_with_the_removed_name_comes_before_a_somewhat_larger_drop() -> None:
    """But not before a much larger one."""
    assert ranked({1: [2.0], 2: [4.0]}) == [1, 2]
    assert ranked({1: [2.0], 2: [40.0]}) == [2, 1]


def test_a_line_that_resembles_the_edited_ones_comes_first() -> None:
    assert ranked({2: [2.0], 3: [2.0]}, EditExample(before="a = 3\n", after="a = 4\n")) == [3, 2]


def test_the_words_of_added_lines_count_where_nothing_was_replaced() -> None:
    added = EditExample(before="x\ny\n", after="x\ncall(some)\ny\n")
    assert ranked({1: [2.0], 2: [2.0]}, added) == [2, 1]


def test_what_other_tokens_of_the_line_gained_counts_against_it() -> None:
    assert ranked({0: [2.0, -1.9], 2: [1.9]}) == [2, 0]


def test_a_drop_too_small_for_a_correction_comes_last() -> None:
    assert ranked({1: [0.9, 0.8, 0.7], 2: [1.1]}) == [2, 1]
