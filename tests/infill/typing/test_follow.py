"""A suggestion is followed through changes: accepted as a whole, in parts, or typed along."""

import pytest

from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.typing.change import TextChange, TextRange
from intarsia.infill.typing.follow import Followed

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
