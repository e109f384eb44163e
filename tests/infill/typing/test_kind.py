"""A change's shape says what the user does: the drawings show the text before and after it."""

import pytest

from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.typing.change import TextChange
from intarsia.infill.typing.kind import ChangeKind, kind_of

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


def change_from(before: str, after: str, *, num_places: int = 1, alike: bool = True) -> TextChange:
    start, old_end, new_end = replaced_range(before, after)
    removed, inserted = before[start:old_end], after[start:new_end]
    return TextChange(
        start=start, removed=removed, inserted=inserted, num_places=num_places, is_alike=alike
    )


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


def test_several_places_at_once_are_no_typing_unless_each_gets_the_same() -> None:
    before, after = "a=1\nb=2\n", "ax = 1\nbx = 2\n"
    several = change_from(before, after, num_places=4, alike=False)
    assert kind_of(several, before, is_restored=False) == "several"
    cursors = change_from("a\nb\n", "ac\nbc\n", num_places=2)
    assert kind_of(cursors, "a\nb\n", is_restored=False) == "typed"


def test_a_formatter_that_moves_white_space_only_says_nothing() -> None:
    before, after = "if a:\n  b\n  c\n  d\n", "if a:\n    b\n    c\n    d\n"
    change = change_from(before, after, num_places=3, alike=False)
    assert kind_of(change, before, is_restored=False) == "blank"


def test_a_name_from_a_menu_and_its_import_are_typed() -> None:
    before, after = "import os\n\nx = Pa\n", "import os\nfrom pathlib import Path\n\nx = Path\n"
    change = change_from(before, after, num_places=2, alike=False)
    assert kind_of(change, before, is_restored=False) != "several"
