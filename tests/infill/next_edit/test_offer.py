"""An offer replaces whole lines and nothing else, in the source's own line ends."""

import pytest
from code_like_text import PIECES, languages, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_next_edits import correction

from intarsia.engine.ipc.messages import NextEdit
from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.infill.next_edit.offer import NextEditOffer, best_first, read_offer
from intarsia.infill.next_edit.plan import EditedText, NextEditPlan, plan_next_edits
from intarsia.infill.next_edit.settled_edit import Hunk, LineRange, plain_lines, settled_edit
from intarsia.infill.suggestion import NoSuggestion

PYTHON = language_for_id("python")


def plan_of(before: str, after: str, language: object = PLAIN_TEXT) -> NextEditPlan:
    edit = settled_edit(before, after)
    assert isinstance(edit, Hunk)
    edited = EditedText(before=before, after=after, edit=edit, newest=edit.new_range)
    return plan_next_edits(edited, language)  # type: ignore[arg-type]


def offered(before: str, after: str, edit: NextEdit, language: object = PLAIN_TEXT) -> str:
    """Return the text with the offer in it, or the reason why there is none."""
    offer = read_offer(plan_of(before, after, language), edit)
    return offer.reason if isinstance(offer, NoSuggestion) else offer.applied_to(after)


@pytest.mark.parametrize(
    ("before", "after", "edit", "result"),
    [
        ("a\nb\nc\n", "x\nb\nc\n", correction(2, 1, "y\n"), "x\nb\ny\n"),
        ("a\nb\nc\n", "x\nb\nc\n", correction(1, 0, "y\n"), "x\ny\nb\nc\n"),
        ("a\nb\nc\n", "x\nb\nc\n", correction(1, 1, ""), "x\nc\n"),
        ("a\nb\nc\n", "x\nb\nc\n", correction(1, 2, "b\ny\nc z\n"), "x\nb\ny\nc z\n"),
        ("a\r\nb\r\nc\r\n", "x\r\nb\r\nc\r\n", correction(1, 1, "y\nb\n"), "x\r\ny\r\nb\r\nc\r\n"),
        ("a\rb\rc", "x\rb\rc", correction(2, 1, "y\n"), "x\rb\ry"),
        ("a\nb\nc", "x\nb\nc", correction(2, 1, "y\nc z\n"), "x\nb\ny\nc z"),
        ("a\nb\nc", "x\nb\nc", correction(3, 0, "d\n"), "x\nb\nc\nd"),
        ("a\nb\nc", "x\nb\nc", correction(2, 1, ""), "x\nb"),
        ("a\r\nb\r\nc", "x\r\nb\r\nc", correction(2, 1, ""), "x\r\nb"),
        ("a\nb\nc\n", "x\nb\nc\n", correction(3, 0, "d\n"), "x\nb\nc\nd\n"),
        ("\ufeffa\nb\n", "\ufeffa\ny\n", correction(0, 1, "x\n"), "\ufeffx\ny\n"),
        (
            "a\x0c\nb\u2028\n",
            "x\x0c\nb\u2028\n",
            correction(1, 1, "y\u2028\n"),
            "x\x0c\ny\u2028\n",
        ),
        (
            "a\nb\n",
            "x\nb\n",
            correction(1, 1, "y\u202e\n"),
            "the correction has characters that are not seen",
        ),
    ],
)
def test_lines_are_replaced_inserted_and_removed(
    before: str, after: str, edit: NextEdit, result: str
) -> None:
    assert offered(before, after, edit) == result


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (correction(1, 1, "b\n"), "the correction changes nothing"),
        (correction(1, 0, ""), "the correction changes nothing"),
        (correction(0, 1, "y\n"), "the correction is where nothing may change"),
        (correction(0, 2, "y\nz\n"), "the correction is where nothing may change"),
        (correction(3, 1, "y\n"), "the correction is outside the text"),
        (correction(-1, 1, "y\n"), "the correction is outside the text"),
        (correction(2, 9, "y\n"), "the correction is outside the text"),
        (correction(2, -1, "y\n"), "the correction is outside the text"),
        (correction(1, 1, "y\n", gain=1.0), "the text would hardly become likelier by the edit"),
        (correction(1, 2, "y z\n"), "the correction has little in common with its lines"),
    ],
)
def test_what_is_no_offer_has_a_reason(edit: NextEdit, reason: str) -> None:
    assert offered("a\nb\nc\n", "x\nb\nc\n", edit) == reason


def test_an_offer_that_breaks_the_code_is_none() -> None:
    before, after = "def f(a):\n    g(a)\n", "def f(b):\n    g(a)\n"
    worse = offered(before, after, correction(1, 1, "    g(b\n"), PYTHON)
    assert worse == "the text would parse worse than before"
    better = offered(before, after, correction(1, 1, "    g(b)\n"), PYTHON)
    assert better == "def f(b):\n    g(b)\n"
    broken = "def f(((:\n" + before, "def f(((:\n" + after
    assert offered(*broken, correction(2, 1, "    g(b)\n"), PYTHON).endswith("g(b)\n")


def test_a_deletion_is_never_surer_than_bold() -> None:
    plan = plan_of("a\nb\nc\n", "x\nb\nc\n")
    deletion = read_offer(plan, correction(1, 1, ""))
    replacement = read_offer(plan, correction(1, 1, "y\n"))
    assert isinstance(deletion, NextEditOffer) and isinstance(replacement, NextEditOffer)
    assert (deletion.level, deletion.is_sure) == ("bold", False)
    assert (replacement.level, replacement.is_sure) == ("sure", True)


def test_the_best_offer_of_a_place_is_first_and_alone() -> None:
    plan = plan_of("a\nb\nc\nd\n", "x\nb\nc\nd\n")
    offers = [
        read_offer(plan, correction(1, 1, "y\n", gain=9.0)),
        read_offer(plan, correction(3, 1, "y\n", gain=11.0)),
        read_offer(plan, correction(1, 2, "b z\nc z\n", gain=10.0)),
        read_offer(plan, correction(2, 1, "", gain=30.0)),  # a deletion is bold
    ]
    found = best_first(it for it in offers if isinstance(it, NextEditOffer))
    assert [it.lines for it in found] == [LineRange(start=3, end=4), LineRange(start=1, end=3)]


pieces = st.lists(st.sampled_from([*PIECES, "a = 1\n", "b\n", "\n"]), max_size=30).map("".join)


@settings(max_examples=400)
@given(pieces, languages, texts, st.data())
def test_no_offer_touches_another_line(
    text: str, language: object, new: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    after = text[:start] + data.draw(texts) + text[start:]
    if not isinstance(settled_edit(text, after), Hunk):
        return
    plan = plan_of(text, after, language)
    num_lines = len(plain_lines(after))
    first = data.draw(st.integers(-2, num_lines + 1))
    edit = correction(first, data.draw(st.integers(-1, 4)), new)
    offer = read_offer(plan, edit)
    if isinstance(offer, NoSuggestion):
        return
    result = offer.applied_to(after)
    bare = [line.removesuffix("\n") for line in plain_lines(after)]
    expected = [*bare[: offer.lines.start], *offer.new_lines, *bare[offer.lines.end :]]
    is_seen = bool(expected) and expected[-1] != ""  # a blank last line may have no line end
    lines = [line.removesuffix("\n") for line in plain_lines(result)]
    assert lines == expected or not is_seen
    assert result.startswith(after[: offer.start]) and result.endswith(after[offer.end :])
    assert result.startswith("\ufeff") == after.startswith("\ufeff")
    assert result != after
    assert plan.may_change(offer.lines)
