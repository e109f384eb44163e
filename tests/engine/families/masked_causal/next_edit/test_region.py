"""Which lines are written again, and what of the answer is offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.families.masked_causal.next_edit.corrections import region_of, smallest_change
from intarsia.engine.families.masked_causal.next_edit.drop import best_first, largest_drops
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
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


RENAME = EditExample(before="a = old(1)\n", after="a = new(1)\n")
SIMILAR = EditExample(before="a = 3\n", after="a = 4\n")
ADDED = EditExample(before="x\ny\n", after="x\ncall(some)\ny\n")


@pytest.mark.parametrize(
    ("losses", "example", "expected"),
    [
        ({0: [2.0], 2: [3.0]}, RENAME, [2, 0]),
        ({1: [2.0], 2: [4.0]}, RENAME, [1, 2]),  # it has the removed name
        ({1: [2.0], 2: [40.0]}, RENAME, [2, 1]),  # a much larger drop goes first all the same
        ({2: [2.0], 3: [2.0]}, SIMILAR, [3, 2]),  # it resembles the edited lines
        ({1: [2.0], 2: [2.0]}, ADDED, [2, 1]),  # it has words of the added lines
        ({0: [2.0, -1.9], 2: [1.9]}, RENAME, [2, 0]),  # what other tokens of the line gained
        ({1: [0.9, 0.8, 0.7], 2: [1.1]}, RENAME, [2, 1]),  # too small for a correction
    ],
)
def test_the_lines_that_the_edit_is_likeliest_about_come_first(
    losses: dict[int, list[float]], example: EditExample, expected: list[int]
) -> None:
    text = "x = 1\ny = old(3)\ncall(other)\nz = new(3)\n"
    part = TextPart(before=text, after=text, may_change=True)
    lines = read_lines(FindNextEdits(id=1, parts=(part,), example=None))
    tokens = [(lines.lines[n], loss) for n, own in losses.items() for loss in own]
    found = best_first(largest_drops(tokens), lines.after, example)
    assert [it.line.number for it in found] == expected
