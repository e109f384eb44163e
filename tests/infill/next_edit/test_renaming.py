"""Which edits are renames, and which next edits are shown."""

import math
import tomllib
from pathlib import Path

import pytest
from code_like_text import texts
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_next_edits import correction

from intarsia.engine.ipc.messages import NextEdit
from intarsia.infill.languages import all_languages, language_for_id
from intarsia.infill.next_edit.offer import Level, is_alike, is_shown, level_of
from intarsia.infill.next_edit.renaming import Rename, is_same_rename, rename_between
from intarsia.infill.next_edit.settled_edit import (
    MAX_EDIT_CHARS,
    Hunk,
    hunks_between,
    plain_lines,
    settled_edit,
)
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import with_plain_newlines

DRAWN = tomllib.loads(Path(__file__).with_name("renaming.toml").read_text(encoding="utf-8"))

PYTHON = language_for_id("python")


def found(before: str, edited: str, language: str = "python", after: str | None = None) -> Rename:
    """Return the rename from ``before`` to ``after``, where the user's own edit is ``edited``."""
    rename = _found(before, edited, language, after)
    assert rename is not None
    return rename


def _found(before, edited, language="python", after=None) -> Rename | None:
    edit = settled_edit(before, edited)
    assert isinstance(edit, Hunk)
    return rename_between(
        before, edited if after is None else after, edit, language_for_id(language)
    )


def test_one_name_for_another_is_a_rename() -> None:
    before = "x = 1\ndef area(a):\n    return a\n\narea(1)\n"
    after = before.replace("def area", "def größe")
    rename = found(before, after)
    assert (rename.old_name, rename.new_name) == ("area", "größe")
    assert (rename.starts, rename.asked_at) == ((10,), 10)
    assert rename.undone(after) == before


def test_it_may_be_in_the_edit_several_times() -> None:
    before = "[x for x in xs]\nprint(xs)\n"
    after = "[item for item in xs]\nprint(xs)\n"
    rename = found(before, after)
    assert (rename.starts, rename.asked_at) == ((1, 10), 1)
    assert rename.undone(after) == before


def test_another_use_in_the_same_lines_may_stay() -> None:
    before, after = "self.area = area\n", "self.size = area\n"
    rename = found(before, after)
    assert (rename.starts, rename.asked_at) == ((5,), 5)


def test_what_was_accepted_since_is_part_of_it() -> None:
    before = "area(1)\ndef area(a): pass\narea(2)\narea(3)\n"
    edited = before.replace("def area", "def size")
    after = edited.replace("area(1", "size(1").replace("area(3", "size(3")
    rename = found(before, edited, after=after)
    assert rename.starts == (0, 12, 34)
    assert rename.asked_at == before.index("area(a")
    assert rename.undone(after) == before


def test_it_asks_at_a_name_rather_than_in_a_string_or_comment() -> None:
    before, after = 'f("area", area=1)  # area\n', 'f("size", size=1)  # size\n'
    rename = found(before, after)
    assert rename.starts == (3, 10, 21)
    assert rename.asked_at == before.index("area=")


def test_line_ends_and_a_byte_order_mark_change_no_offsets() -> None:
    before = "\ufeffx = 1\r\narea = 2\r\nprint(area)\r\n"
    rename = found(before, before.replace("area =", "size ="))
    assert (rename.starts, rename.asked_at) == ((8,), 8)


@pytest.mark.parametrize(("language", "before", "old", "new"), DRAWN["rename"]["cases"])
def test_names_are_those_of_the_language(language: str, before: str, old: str, new: str) -> None:
    rename = found(before, before.replace(old, new), language)
    assert (rename.old_name, rename.new_name) == (old, new)


@pytest.mark.parametrize(("language", "before", "after"), DRAWN["none"]["cases"])
def test_anything_else_is_none(language: str, before: str, after: str) -> None:
    assert _found(before, after, language) is None


def test_a_text_that_differs_elsewhere_too_is_none() -> None:
    before = "def area(a): pass\n\n\narea(1)\n"
    edited = before.replace("def area", "def size")
    assert _found(before, edited, after=edited + "x") is None
    assert _found(before, edited, after=edited.replace("area(1", "sizes(1")) is None
    assert _found(before, edited, after=before.replace("area(1", "size(1")) is None


def test_an_offer_is_same_rename_where_all_whole_words_are() -> None:
    rename = Rename(old_name="area", new_name="size", starts=(0,), asked_at=0)
    for old, new, expected in [
        ("area(1)\n", "size(1)\n", True),
        ("area(area, area_)\n", "size(size, area_)\n", True),
        ("area(area)\n", "size(area)\n", False),
        ("area(1)\n", "size(2)\n", False),
        ("areas(1)\n", "sizes(1)\n", False),
        ("x\n", "x\n", False),
        ("", "size\n", False),
    ]:
        assert is_same_rename(rename, old, new, PYTHON) is expected


@settings(max_examples=300)
@given(texts, texts, st.sampled_from(all_languages()), st.data())
def test_any_two_texts_give_none_or_the_whole_difference(before, other, language, data):
    after = data.draw(st.sampled_from([other, before.replace("a", "b"), before.replace("x", "y1")]))
    edit = settled_edit(before, after)
    if isinstance(edit, Hunk):
        rename = rename_between(before, after, edit, language)
        assert rename is None or rename.undone(after) == before


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


@pytest.mark.parametrize(("old", "new"), DRAWN["same_code"]["cases"])
def test_versions_of_the_same_code(old: str, new: str) -> None:
    assert is_alike(old.split("\n"), new.split("\n"))
    assert is_alike(new.split("\n"), old.split("\n"))


@pytest.mark.parametrize(("old", "new"), DRAWN["other_code"]["cases"])
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
def test_a_few_lines_are_an_edit(before, after, place, old, new):
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
