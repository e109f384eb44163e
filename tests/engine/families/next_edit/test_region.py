"""Which lines are written again, and what of the answer is offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.families.next_edit.edited_lines import WindowLine
from intarsia.engine.families.next_edit.region import (
    RegionSize,
    region_around,
    smallest_change,
)

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=7)


def lines(*may_change: bool) -> list[WindowLine]:
    return [
        WindowLine(number=i, start=2 * i, end=2 * i + 2, start_before=2 * i, may_change=may)
        for i, may in enumerate(may_change)
    ]


@pytest.mark.parametrize(("place", "expected"), [(0, [0, 1, 2]), (3, [2, 3, 4, 5]), (7, [6, 7])])
def test_a_region_ends_with_the_window(place: int, expected: list[int]) -> None:
    all_lines = lines(*[True] * 8)
    region = region_around(all_lines, all_lines[place], RegionSize(above=1, below=2))
    assert [line.number for line in region] == expected


def test_a_region_ends_at_lines_that_may_not_change() -> None:
    all_lines = lines(True, False, True, True, False)
    region = region_around(all_lines, all_lines[2], RegionSize(above=2, below=3))
    assert [line.number for line in region] == [2, 3]


def test_a_region_ends_at_an_edit_between_two_lines() -> None:
    first, second, third = lines(True, True, True)
    moved = WindowLine(number=5, start=10, end=12, start_before=4, may_change=True)
    assert region_around([first, second, moved], second, RegionSize(above=2, below=2)) == [
        first,
        second,
    ]
    assert third not in region_around([first, second, moved], moved, RegionSize(above=2, below=2))


def test_a_region_ends_where_the_edit_removed_lines() -> None:
    first, second = lines(True, True)
    third = WindowLine(number=2, start=4, end=6, start_before=9, may_change=True)
    assert region_around([first, second, third], second, RegionSize(above=2, below=2)) == [
        first,
        second,
    ]


@given(old=LINES, new=LINES, place=st.integers(0, 6))
def test_one_change_leaves_the_other_lines_alone(
    old: list[str], new: list[str], place: int
) -> None:
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
