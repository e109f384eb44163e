"""Which next edits are shown: likely ones, and those that settle a change."""

import math

import pytest
from code_like_text import texts
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_next_edits import correction

from intarsia.engine.ipc.messages import NextEdit
from intarsia.infill.next_edit.offer import is_alike
from intarsia.infill.next_edit.settled_edit import (
    MAX_EDIT_CHARS,
    Hunk,
    hunks_between,
    plain_lines,
    settled_edit,
)
from intarsia.infill.next_edit.show_rule import Level, is_shown, level_of
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import with_plain_newlines


@pytest.mark.parametrize(
    ("edit", "is_deletion", "level"),
    [
        (correction(), False, "sure"),
        (correction(is_agreed=False), False, "sure"),
        (correction(log_p=-1.0), False, "sure"),
        (correction(log_p=-1.0, is_agreed=False), False, "balanced"),
        (correction(log_p=-2.0), False, "bold"),
        (correction(), True, "bold"),
        (correction(gain=7.1), False, "sure"),
        (correction(gain=7.0), False, "bold"),
        (correction(gain=4.1), False, "bold"),
        (correction(gain=4.0), False, None),
        (correction(gain=12.0, gain_before=8.0), False, None),  # likelier before the edit too
        (correction(gain=0.0, gain_before=-20.0), False, None),
        (correction(gain=0.1, gain_before=-20.0), False, "sure"),
        (correction(gain=math.nan), False, None),
        (correction(log_p=math.nan), False, "bold"),
    ],
)
def test_the_level_of_a_correction(edit: NextEdit, is_deletion: bool, level: Level | None) -> None:
    assert level_of(edit, is_deletion=is_deletion) == level


def test_each_level_shows_those_that_are_surer() -> None:
    levels: tuple[Level, ...] = ("sure", "balanced", "bold")
    shown = {least: [level for level in levels if is_shown(level, least)] for least in levels}
    assert shown == {"sure": ["sure"], "balanced": ["sure", "balanced"], "bold": list(levels)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y = old(3)", "y = new(3)"),
        ("    parser = OptionParser()", "    parser = _OptionParser()"),
        ("    return decorator  # type: ignore[return-value]", "    return decorator"),
        ('if f.Value.Type() == "stringArray" {', "if isRepeated(f) {"),
        ("f(a, b)", "f(\n    a,\n    b,\n)"),
        ("old", "new"),
        ("}", "});"),
        ("", "added = 1"),
        ("removed = 1", ""),
        ("", ""),
    ],
)
def test_versions_of_the_same_code(old: str, new: str) -> None:
    assert is_alike(old.split("\n"), new.split("\n"))
    assert is_alike(new.split("\n"), old.split("\n"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            return typing.cast(float, await curio.clock())", "        else:"),
        ("package com.capacitor.audioengine;", "        // the recording shall"),
        ("namespace affineflow::ml {", "std::string Classifier::predict(\n    const Matrix& x)"),
        (
            '        ... def foo(x: int, axis: Literal[0, "obs"]):',
            "        value, *aliases = get_args(aliasset)\n        if isinstance(value, str):",
        ),
    ],
)
def test_other_code_in_the_place(old: str, new: str) -> None:
    assert not is_alike(old.split("\n"), new.split("\n"))
    assert not is_alike(new.split("\n"), old.split("\n"))


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
