"""What a change of a text is, told by texts before and after it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.infill.syntax.text import replaced_range
from intarsia.infill.text_change import (
    MAX_REMEMBERED,
    ChangeKind,
    Followed,
    RecentTexts,
    TextChange,
    TextRange,
    digest_change,
    kind_of,
)

TYPED = [
    ("x =", "x = "),
    ("x = ", "x = f"),
    ("f", "f()"),  # a bracket's partner comes along
    ("if a:", "if a:\n    "),
    ("  f({", "  f({\n    "),
    ("/** a", "/** a\n * "),
    ("while true do", "while true do\nend"),
    ("x = comp", "x = compute_the_total"),  # from a menu
    ("foo = 1", "f = 1\n".rstrip().replace("f", "b")),  # a selection is typed over
]
DELETED = [("x = a", "x = "), ("def f():\n    pass\n", "def f():\n"), ("f()", "f")]
PASTED = [
    ("", "for item in items:\n    print(item)\n"),
    ("a = 1\n", "a = 1\nreturn total\n"),
    ("x = ", "x = sorted(items, key=lambda item: item.price, reverse=True)"),
]
BLANK = [("if a:\n        ", "if a:\n    "), ("if a:\n    \n", "if a:\n\n")]


def change_from(before: str, after: str, *texts: str) -> TextChange:
    start, old_end, new_end = replaced_range(before, after)
    removed, inserted = before[start:old_end], after[start:new_end]
    return TextChange(start=start, removed=removed, inserted=inserted, texts=texts)


CASES: list[tuple[ChangeKind, str, str]] = [
    *(("typed", *case) for case in TYPED),
    *(("deleted", *case) for case in DELETED),
    *(("pasted", *case) for case in PASTED),
    *(("blank", *case) for case in BLANK),
]


@pytest.mark.parametrize(("kind", "before", "after"), CASES)
def test_the_kind_of_one_change(kind: ChangeKind, before: str, after: str) -> None:
    assert kind_of(change_from(before, after), before, is_restored=False) == kind


def test_a_known_text_is_undone_unless_a_key_may_have_typed_it() -> None:
    word, letter = change_from("x = ", "x = total"), change_from("x = ", "x = t")
    assert kind_of(word, "x = ", is_restored=True) == "undone"
    assert kind_of(letter, "x = ", is_restored=True) == "typed"


BETWEEN = "print(result, end=separator)  # forty characters and more\n" * 3


@pytest.mark.parametrize(
    ("kind", "drawing", "texts"),
    [
        ("typed", "a|\n", ("c", "c")),
        ("typed", "a|\n", ("c", "c", "c")),
        ("typed", "f|\n", ("()", "()")),
        ("typed", "<d|>\n", ("i", "i")),  # a tag and its partner
        ("typed", "|x = P\n", ("from pathlib import Path\n", "ath")),  # a name and its import
        ("typed", "|\n", ("\n    ", "\n")),
        ("deleted", "ab|\n", ("", "")),
        ("deleted", "ab|\n", ("", "", "")),
        ("blank", "    |x\n", ("", "")),  # two lines leave their blocks
        ("blank", "  |x\n", ("  ", " ", "")),  # a formatter
        ("several", "a|1\n", (" = ", "= ", " =")),
        ("several", "a|\n", ("sum", "sum", "sum")),  # Replace All
        ("pasted", "|\n", ("for item in items:\n    print(item)\n", "x")),
    ],
)
def test_the_kind_of_a_change_at_several_places(kind, drawing, texts):
    """Each place has its text at the mark; without one, the place loses what is before the mark."""
    head, tail = drawing.split("|")
    before = BETWEEN.join([head + tail] * len(texts))
    after = BETWEEN.join((head + text if text else "") + tail for text in texts)
    change = change_from(before, after, *texts)
    assert kind_of(change, before, is_restored=False) == kind


def test_a_key_at_two_cursors_that_restores_a_text_is_typed() -> None:
    change = change_from("a\nb\n", "ac\nbc\n", "c", "c")
    assert kind_of(change, "a\nb\n", is_restored=True) == "typed"


TEXTS = st.text(alphabet="ab\n\r ", max_size=12)


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


BEFORE = "x = \nprint(x)\n"
SHOWN = Followed(start=4, text="first + last()")


def after(shown: Followed | None, old: str, new: str) -> Followed | None:
    start, old_end, new_end = replaced_range(old, new)
    change = TextChange(start=start, removed=old[start:old_end], inserted=new[start:new_end])
    return None if shown is None else shown.after(change, old, new)


def with_(text: str) -> str:
    return BEFORE.replace("\n", f"{text}\n", 1)


def test_all_of_it_at_once_is_a_step() -> None:
    whole = after(SHOWN, BEFORE, with_(SHOWN.text))
    assert whole is not None and whole.is_whole and whole.is_step(SHOWN)


def test_a_word_is_a_step_and_letters_are_none() -> None:
    word = after(SHOWN, BEFORE, with_("first"))
    letter, letters = after(SHOWN, BEFORE, with_("f")), after(SHOWN, BEFORE, with_("fir"))
    assert word is not None and word.is_step(SHOWN) and word.rest == " + last()"
    assert letter is not None and not letter.is_step(SHOWN)
    assert letters is not None and not letters.is_step(SHOWN)


def test_the_last_typed_letter_is_a_step() -> None:
    nearly = after(SHOWN, BEFORE, with_(SHOWN.text[:-1]))
    whole = after(nearly, with_(SHOWN.text[:-1]), with_(SHOWN.text))
    assert nearly is not None and whole is not None and whole.is_step(nearly)


def test_a_letter_that_is_taken_back_leaves_it_on_show() -> None:
    typed = after(SHOWN, BEFORE, with_("fi"))
    back = after(typed, with_("fi"), with_("f"))
    assert back is not None and back.rest == "irst + last()"


@pytest.mark.parametrize("new", [with_("g"), "y = \nprint(x)\n", "x = \nprint(y)\n", "x =\n", ""])
def test_any_other_change_ends_it(new: str) -> None:
    assert after(SHOWN, BEFORE, new) is None


def test_a_bracket_that_is_told_one_place_later_is_followed() -> None:
    """Neovim compares lines: which of two brackets is the new one cannot be seen."""
    old, new = "f(a)", "f(a))"
    shown = Followed(start=3, text=")")
    later = TextChange(start=4, removed="", inserted=")")
    found = shown.after(later, old, new)
    assert found is not None and found.is_whole


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        (TextChange(start=0, removed="", inserted="abc"), (8, 12)),
        (TextChange(start=5, removed="", inserted="abc"), (8, 12)),  # at its start
        (TextChange(start=9, removed="", inserted="abc"), (5, 9)),  # at its end
        (TextChange(start=6, removed="x", inserted="abc"), (5, 11)),
        (TextChange(start=3, removed="12345678", inserted=""), (3, 3)),
        (TextChange(start=3, removed="123", inserted=""), (3, 6)),
    ],
)
def test_a_range_moves_with_the_text(change: TextChange, moved: tuple[int, int]) -> None:
    assert TextRange(start=5, end=9).after(change) == TextRange(start=moved[0], end=moved[1])
