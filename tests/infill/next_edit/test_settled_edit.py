"""What counts as one edit, and what does not."""

import pytest
from code_like_text import texts
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.next_edit.settled_edit import (
    MAX_EDIT_CHARS,
    Hunk,
    hunks_between,
    plain_lines,
    settled_edit,
)
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import with_plain_newlines

TEN = "".join(f"line {i}\n" for i in range(10))


@pytest.mark.parametrize(
    ("before", "after", "place", "old", "new"),
    [
        ("a\nb\nc\n", "a\nx\nc\n", 1, ("b\n",), ("x\n",)),
        ("a\nc\n", "a\nb\nc\n", 1, (), ("b\n",)),
        ("a\nb\nc\n", "a\nc\n", 1, ("b\n",), ()),
        ("foo()\n", "fob()\nfoo()\n", 0, (), ("fob()\n",)),
        ("a\nb\nc\nd\n", "a\nx\nc\ny\n", 1, ("b\n", "c\n", "d\n"), ("x\n", "c\n", "y\n")),
        ("a\nb", "a\nb\nc", 2, (), ("c\n",)),  # the line end that is missing is no change
        ("a\nb\n", "a\nc", 1, ("b\n",), ("c\n",)),
        ("a\r\nb\r\n", "a\nx\n", 1, ("b\n",), ("x\n",)),
        ("", "a", 0, (), ("a\n",)),
        ("\ufeffa\n", "\ufeffb\n", 0, ("a\n",), ("b\n",)),
        ("a\x0c\u2028b\n", "a\x0c\u2028c\n", 0, ("a\x0c\u2028b\n",), ("a\x0c\u2028c\n",)),
    ],
)
def test_a_few_lines_are_an_edit(
    before: str, after: str, place: int, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    expected = Hunk(start=place, new_start=place, old_lines=old, new_lines=new)
    assert settled_edit(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("a\nb\n", "a\nb\n", "nothing has changed"),
        ("a\r\nb\r\n", "a\nb", "nothing has changed"),
        ("", "", "nothing has changed"),
        ("f( a )\n", "f(a)\n", "only white space has changed"),
        ("a\nb\n", "a\n\n\tb\n", "only white space has changed"),
        (TEN, TEN.replace("line", "row"), "more than 6 lines have changed"),
        (TEN, TEN + "1\n2\n3\n4\n5\n6\n7\n", "more than 6 lines have changed"),
        (TEN, TEN.replace("line 0", "a").replace("line 9", "b"), "several places have changed"),
        ("a\n", "x" * MAX_EDIT_CHARS + "\n", "the changed lines are too long"),
        ("a", "b" * 1_000_001, "the text is longer than 1,000,000 characters"),
    ],
)
def test_what_is_no_edit_has_a_reason(before: str, after: str, reason: str) -> None:
    assert settled_edit(before, after) == NoSuggestion(reason=reason)


def put_in(lines: list[str], hunks: list[Hunk]) -> list[str]:
    result, at = [], 0
    for hunk in hunks:
        result += lines[at : hunk.start]
        assert len(result) == hunk.new_start
        assert tuple(lines[hunk.start : hunk.end]) == hunk.old_lines
        result += hunk.new_lines
        at = hunk.end
    return result + lines[at:]


@settings(max_examples=300)
@given(texts, texts)
def test_hunks_put_into_the_old_lines_give_the_new_ones(before: str, after: str) -> None:
    old, new = plain_lines(before), plain_lines(after)
    assert put_in(old, hunks_between(old, new)) == new


@settings(max_examples=300)
@given(st.one_of(texts, st.just("")))
def test_lines_joined_are_the_text(text: str) -> None:
    lines = plain_lines(text)
    assert "".join(lines) == with_plain_newlines(text).removeprefix("\ufeff")
    assert all(line.endswith("\n") for line in lines[:-1])
