"""Undo and redo restore a text that was there: it is known by its digest alone."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.typing.change import TextChange
from intarsia.infill.typing.restored import MAX_REMEMBERED, RecentTexts, digest_change

TEXTS = st.text(alphabet="ab\n\r ", max_size=12)


def change_from(before: str, after: str) -> TextChange:
    start, old_end, new_end = replaced_range(before, after)
    return TextChange(start=start, removed=before[start:old_end], inserted=after[start:new_end])


def restored(*texts: str) -> list[bool]:
    """Return for each text after the first whether it is known."""
    recent = RecentTexts()
    return [
        recent.is_restored(before, change_from(before, after), after)
        for before, after in pairwise(texts)
    ]


def test_undo_and_redo_are_known() -> None:
    assert restored("a\n", "a\nb\n", "a\n", "a\nb\n") == [False, True, True]


def test_a_text_of_several_changes_before_is_known() -> None:
    assert restored("", "f", "fo", "foo", "foo(", "") == [False, False, False, False, True]


def test_a_text_of_long_ago_is_forgotten() -> None:
    texts = ["start", *(f"line {number}" for number in range(MAX_REMEMBERED)), "start"]
    assert restored(*texts)[-1] is False


@given(TEXTS, TEXTS, TEXTS)
def test_the_way_to_a_text_does_not_matter(first: str, other: str, last: str) -> None:
    direct = digest_change(first, change_from(first, last), last)
    there = digest_change(first, change_from(first, other), other)
    onward = digest_change(other, change_from(other, last), last)
    assert direct == there + onward


@given(TEXTS, TEXTS)
def test_only_the_order_of_lines_may_be_missed(first: str, last: str) -> None:
    is_same = digest_change(first, change_from(first, last), last) == 0
    alike = sorted(first.split("\n")) == sorted(last.split("\n"))
    assert is_same <= alike
