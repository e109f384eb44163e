"""Which offers are at a right place, and which are exact."""

import pytest
from edit_runs import LINES, edit_case, hunk

from intarsia_research.evaluation.edits.edit_case import lines_of
from intarsia_research.evaluation.edits.still_open import (
    Replacement,
    exact_hunks,
    hunks_of_line,
    open_hunks,
    present_lines,
    present_text,
    touched,
)

CASE = edit_case(
    hunk(2, 1, "two", "and more"),  # lines below move down by one
    hunk(6, 2, "six", "seven"),
    hunk(8, 0, "inserted"),  # right after the hunk above
    hunk(12, 1),  # removed
    hunk(15, 1, "a", "b"),
)
LINES_AFTER = lines_of(present_text(CASE, {0}))
OPEN = open_hunks(CASE, {0})


def offer(line: int, num_lines: int, *new_lines: str) -> Replacement:
    text = "".join(f"{line}\n" for line in new_lines)
    return Replacement(first_line=line, num_lines=num_lines, text=text)


def test_hunks_are_in_the_lines_of_the_present_text() -> None:
    assert [(it.number, it.start, it.end) for it in OPEN] == [
        (1, 7, 9),
        (2, 9, 9),
        (3, 13, 14),
        (4, 16, 17),
    ]
    later = open_hunks(CASE, {0, 3})
    assert [(it.number, it.start) for it in later] == [(1, 7), (2, 9), (4, 15)]
    assert present_lines(CASE, {0}, 0) == (2, 4)
    assert present_lines(CASE, {0, 1, 3}, 3) == (13, 13)
    assert present_lines(CASE, {0, 1, 3, 4}, 4) == (15, 17)


def test_all_hunks_put_in_are_the_file_after_the_commit() -> None:
    lines = present_text(CASE, range(5)).splitlines()
    assert lines[2:4] == ["two", "and more"]
    assert lines[7:10] == ["six", "seven", "inserted"]
    assert "line 12" not in lines
    assert lines[16:18] == ["a", "b"]
    assert len(lines) == len(LINES) + 1 + 1 - 1 + 1


@pytest.mark.parametrize(
    ("one", "numbers"),
    [
        (offer(7, 2, "six", "seven"), (1,)),
        (offer(7, 1, "six"), (1,)),  # a line of a hunk of as many
        (offer(8, 1, "seven  "), (1,)),  # blanks at the end
        (offer(9, 0, "inserted"), (2,)),
        (offer(8, 1, "line 7", "inserted"), (2,)),  # with a line that stays
        (offer(7, 2, "six", "seven", "inserted"), (1, 2)),
        (offer(13, 1), (3,)),
        (offer(16, 1, "a", "b"), (4,)),
        (offer(7, 1, "seven"), ()),
        (offer(7, 2, "six"), ()),
        (offer(9, 0, "other"), ()),
        (offer(9, 0), ()),
        (offer(13, 1, ""), ()),  # an empty line is left
        (offer(16, 1, "a"), ()),  # part of a hunk of more lines
        (offer(0, 1, "six"), ()),
        (offer(16, 1, "line 15"), ()),  # nothing changes
        (offer(7, 1, "line 6  "), ()),
    ],
)
def test_an_offer_is_exact_if_it_puts_in_what_the_commit_changed(one, numbers):
    assert exact_hunks(one, LINES_AFTER, OPEN) == numbers


@pytest.mark.parametrize(
    ("one", "numbers"),
    [
        (offer(7, 1, "x"), [1]),
        (offer(8, 1, "x"), [1, 2]),
        (offer(6, 1, "x"), []),
        (offer(9, 0, "x"), [1, 2]),
        (offer(13, 0, "x"), [3]),
        (offer(14, 0, "x"), [3]),
        (offer(14, 1, "x"), []),
        (offer(10, 2, "x"), []),
    ],
)
def test_places_touch_hunks(one: Replacement, numbers: list[int]) -> None:
    assert [it.number for it in touched(one, OPEN)] == numbers


def test_an_insertion_is_at_the_line_after_it() -> None:
    assert hunks_of_line(9, OPEN) == (2,)
    assert hunks_of_line(8, OPEN) == (1,)
    assert hunks_of_line(10, OPEN) == ()
    assert hunks_of_line(None, OPEN) == ()
