"""What all families read of a request: lines, the example, and the order of places."""

import pytest

from intarsia.engine.families.masked_causal.next_edit.drop import LineDrop, largest_drops
from intarsia.engine.families.masked_causal.next_edit.edited_window import WindowLine, read_lines
from intarsia.engine.families.masked_causal.next_edit.example import (
    example_text,
    num_added_lines,
    only_adds,
)
from intarsia.engine.families.masked_causal.next_edit.region import places_to_correct
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, TextPart

PARTS = (
    TextPart(before="é\nb\n", after="é\nb\n", may_change=True),
    TextPart(before="one\n", after="first\nsecond\n", may_change=False),
    TextPart(before="c\n", after="c\n", may_change=True),
    TextPart(before="gone\n", after="", may_change=False),
    TextPart(before="d", after="d", may_change=False),
)


def lines(direction: str) -> list[tuple[int, bytes, bytes]]:
    """Return the number of each line with its text after the edit and before it."""
    request = FindNextEdits(id=1, parts=PARTS, example=None, direction=direction)
    edited = read_lines(request)
    assert edited.edit_start == len("é\nb\n".encode())
    return [
        (line.number, edited.after[line.start : line.end], edited.before[line.start_before :][:2])
        for line in edited.lines
    ]


def test_lines_below_the_edit_are_found_in_both_texts() -> None:
    assert lines("below") == [(4, b"c\n", b"c\n"), (5, b"d", b"d")]


def test_lines_above_the_edit_are_found_in_both_texts() -> None:
    assert [number for number, *_ in lines("above")] == [0, 1]
    assert [after for _, after, _ in lines("above")] == ["é\n".encode(), b"b\n"]


def test_removed_lines_are_between_two_lines() -> None:
    edited = read_lines(FindNextEdits(id=1, parts=PARTS, example=None))
    first, second = edited.lines
    assert first.end == second.start
    assert not first.is_followed_by(second)


@pytest.mark.parametrize(
    ("before", "after", "adds", "num_added"),
    [
        ("a\nb\n", "a\nx\nb\n", True, 1),
        ("a\n", "a\nx\ny\n", True, 2),
        ("a\nb\n", "a\nc\n", False, 0),
        ("a\nb\n", "a\n", False, 0),
        ("", "x\n", False, 1),
    ],
)
def test_an_example_says_whether_it_adds_lines(
    before: str, after: str, adds: bool, num_added: int
) -> None:
    example = EditExample(before=before, after=after)
    assert (only_adds(example), num_added_lines(example)) == (adds, num_added)


def test_an_example_has_both_texts_in_whole_lines() -> None:
    assert example_text(EditExample(before="a", after="b")) == "original:\na\nupdated:\nb\n"
    assert example_text(EditExample(before="a\n", after="")) == "original:\na\nupdated:\n"


def window_line(number: int) -> WindowLine:
    return WindowLine(
        number=number, start=number, end=number + 1, start_before=number, may_change=True
    )


def test_places_come_by_their_drop_and_no_line_twice() -> None:
    one, two, three, far = (window_line(number) for number in (1, 2, 3, 9))
    drops = largest_drops([(one, 1.0), (two, 3.0), (one, 2.0), (far, 0.5), (three, -1.0)])
    assert drops == [
        LineDrop(line=two, drop=3.0, net_drop=3.0),
        LineDrop(line=one, drop=2.0, net_drop=3.0),
        LineDrop(line=far, drop=0.5, net_drop=0.5),
    ]
    all_lines = [one, two, three, far]
    places = list(places_to_correct(drops, all_lines, 1, most=5))
    assert [(found.line.number, len(region)) for found, region in places] == [(2, 2), (9, 1)]
    assert len(list(places_to_correct(drops, all_lines, 1, most=1))) == 1
    assert list(places_to_correct(drops, all_lines, 1, most=0)) == []
