"""The two windows of a request, which lines are written again, and what is offered of them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_causal import toy_text

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.next_edit.corrections import (
    places_to_correct,
    region_of,
    smallest_change,
)
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    TokenizedWindow,
    WindowLine,
    read_lines,
    read_window,
)
from intarsia.engine.families.masked_causal.next_edit.example import (
    example_text,
    num_added_lines,
    only_adds,
)
from intarsia.engine.families.masked_causal.next_edit.scoring import (
    LineDrop,
    best_first,
    largest_drops,
)
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, TextPart

EXAMPLE = EditExample(before="a\n", after="b\n")
LINES = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=12))


def kept(lines: str, *, may_change: bool = True) -> TextPart:
    return TextPart(before=lines, after=lines, may_change=may_change)


def request(*parts: TextPart, direction: str = "below") -> FindNextEdits:
    return FindNextEdits(id=1, parts=parts, example=EXAMPLE, direction=direction)


def edit(before: str, after: str) -> TextPart:
    return TextPart(before=before, after=after, may_change=False)


def joined(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def text_of(window: TokenizedWindow, text: FimTokenizer) -> bytes:
    return b"".join(map(text.bytes_of, window.ids[window.num_before :]))


@given(above=LINES, old=LINES, new=LINES, below=LINES)
def test_lines_are_at_their_offsets_in_both_windows(above, old, new, below, toy):
    text = toy_text(toy)
    asked = request(
        kept(joined(above), may_change=False), edit(joined(old), joined(new)), kept(joined(below))
    )
    window = read_window(asked, text)
    whole = [*above, *new, *below]
    if old != new:
        numbers = [line.number for line in window.lines]
        assert numbers == list(range(len(above) + len(new), len(whole)))
    for line in window.lines:
        own = (whole[line.number] + "\n").encode()
        shift = line.start_before - line.start
        assert window.after.text[line.start : line.end] == own
        assert window.before.text[line.start + shift : line.end + shift] == own
    assert text_of(window.after, text) == window.after.text
    assert text_of(window.before, text) == window.before.text


def test_the_first_scored_token_is_the_first_that_differs(text: FimTokenizer) -> None:
    window = read_window(
        request(kept("x = 1\n", may_change=False), edit("y = a\n", "y = b\n"), kept("z\n")), text
    )
    first = window.first_scored
    assert window.before.ids[:first] == window.after.ids[:first]
    assert window.before.ids[first] != window.after.ids[first]


def test_a_text_without_an_edit_is_scored_from_its_first_open_line(text: FimTokenizer) -> None:
    window = read_window(request(kept("x = 1\n", may_change=False), kept("y = 2\n")), text)
    assert not window.is_edited()
    assert window.after.start_of(window.first_scored) == len("x = 1\n")


def test_above_an_edit_the_edit_is_read_first(text: FimTokenizer) -> None:
    window = read_window(
        request(kept("x = a\n"), edit("a = 1\n", "b = 1\n"), kept("end\n"), direction="above"), text
    )
    assert window.after.text == b"x = a\n" == window.before.text
    read_first = b"".join(map(text.bytes_of, window.after.ids[: window.after.num_before]))
    assert read_first == b"b = 1\nend\n"
    assert [line.number for line in window.lines] == [0]
    assert window.first_scored < window.after.num_before


@given(below=LINES.filter(len), num=st.integers(1, 60))
def test_a_beginning_has_the_first_lines_in_both_windows(below: list[str], num: int, toy: Path):
    text = toy_text(toy)
    window = read_window(request(edit("a\n", "bb\n"), kept(joined(below))), text)
    near = window.beginning(num)
    if near is None:
        return
    assert list(near.lines) == list(window.lines[: len(near.lines)])
    for one, whole in ((near.before, window.before), (near.after, window.after)):
        assert list(one.ids) == list(whole.ids[: len(one.ids)])
        assert whole.text.startswith(one.text)
        assert text_of(one, text) == one.text
    assert len(near.after.text) >= near.lines[-1].end
    assert len(near.after.ids) <= window.first_scored + num


def test_a_part_that_ends_within_a_line_is_refused(text: FimTokenizer) -> None:
    with pytest.raises(ValueError, match="must end at a line end"):
        read_window(request(kept("x = 1"), kept("y\n")), text)


@pytest.mark.parametrize("parts", [(), (kept(""),), (edit("a\n", ""),), (edit("", "é\n"),)])
def test_little_text_is_no_error(parts: tuple[TextPart, ...], text: FimTokenizer) -> None:
    assert read_window(request(*parts), text).lines == []


PARTS = (
    TextPart(before="é\nb\n", after="é\nb\n", may_change=True),
    TextPart(before="one\n", after="first\nsecond\n", may_change=False),
    TextPart(before="c\n", after="c\n", may_change=True),
    TextPart(before="gone\n", after="", may_change=False),
    TextPart(before="d", after="d", may_change=False),
)


@pytest.mark.parametrize(
    ("direction", "found"),
    [
        ("below", [(4, b"c\n", b"c\n"), (5, b"d", b"d")]),
        ("above", [(0, "é\n".encode(), "é".encode()), (1, b"b\n", b"b\n")]),
    ],
)
def test_lines_are_found_in_both_texts(direction: str, found: list[tuple[int, bytes, bytes]]):
    edited = read_lines(FindNextEdits(id=1, parts=PARTS, example=None, direction=direction))
    assert edited.edit_start == len("é\nb\n".encode())
    assert [
        (line.number, edited.after[line.start : line.end], edited.before[line.start_before :][:2])
        for line in edited.lines
    ] == found
    first, second = edited.lines
    assert first.end == second.start
    assert first.is_followed_by(second) == (direction == "above"), "lines were removed between"


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
def test_an_example_says_whether_it_adds_lines(before: str, after: str, adds: bool, num_added: int):
    example = EditExample(before=before, after=after)
    assert (only_adds(example), num_added_lines(example)) == (adds, num_added)


def test_an_example_has_both_texts_in_whole_lines() -> None:
    assert example_text(EditExample(before="a", after="b")) == "original:\na\nupdated:\nb\n"
    assert example_text(EditExample(before="a\n", after="")) == "original:\na\nupdated:\n"


def test_places_come_by_their_drop_and_no_line_twice() -> None:
    all_lines = lines(*[True] * 10)
    one, two, three, far = (all_lines[number] for number in (1, 2, 3, 9))
    drops = largest_drops([(one, 1.0), (two, 3.0), (one, 2.0), (far, 0.5), (three, -1.0)])
    assert drops == [
        LineDrop(line=two, drop=3.0, net_drop=3.0),
        LineDrop(line=one, drop=2.0, net_drop=3.0),
        LineDrop(line=far, drop=0.5, net_drop=0.5),
    ]
    places = list(places_to_correct(drops, [one, two, three, far], 1, most=5))
    assert [(found.line.number, len(region)) for found, region in places] == [(2, 2), (9, 1)]
    assert len(list(places_to_correct(drops, all_lines, 1, most=1))) == 1
    assert list(places_to_correct(drops, all_lines, 1, most=0)) == []


NUM_LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=7)


def lines(*may_change: bool) -> list[WindowLine]:
    return [
        WindowLine(number=i, start=2 * i, end=2 * i + 2, start_before=2 * i, may_change=may)
        for i, may in enumerate(may_change)
    ]


@pytest.mark.parametrize(
    ("place", "num_above", "expected"),
    [(0, 1, [0]), (3, 0, [3]), (3, 1, [2, 3]), (7, 2, [5, 6, 7]), (6, 2, [6])],
)
def test_a_region_ends_with_the_window_and_at_lines_that_may_not_change(place, num_above, expected):
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


@given(old=NUM_LINES, new=NUM_LINES, place=st.integers(0, 6))
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
def test_the_lines_that_the_edit_is_likeliest_about_come_first(losses, example, expected):
    text = "x = 1\ny = old(3)\ncall(other)\nz = new(3)\n"
    part = TextPart(before=text, after=text, may_change=True)
    lines = read_lines(FindNextEdits(id=1, parts=(part,), example=None))
    tokens = [(lines.lines[n], loss) for n, own in losses.items() for loss in own]
    found = best_first(largest_drops(tokens), lines.after, example)
    assert [it.line.number for it in found] == expected
