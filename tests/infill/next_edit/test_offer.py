"""The window around an edit, where it is searched, and what is offered: whole lines alone."""

import asyncio
import re
from typing import Any

import pytest
from code_like_text import PIECES, languages, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_next_edits import BOLD, NOT_SHOWN, SURE, correction, find_by_rules, rule

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, NextEdit, NextEdits
from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.infill.next_edit.offer import (
    NextEditOffer,
    NextEditResult,
    best_first,
    find_offers,
    read_offer,
)
from intarsia.infill.next_edit.plan import (
    ABOVE_TOKENS,
    BELOW_TOKENS,
    EditedText,
    NextEditPlan,
    plan_next_edits,
    plan_reading,
)
from intarsia.infill.next_edit.settled_edit import Hunk, LineRange, plain_lines, settled_edit
from intarsia.infill.suggestion import NoSuggestion

PYTHON = language_for_id("python")


def plan_of(before: str, after: str, language: object = PLAIN_TEXT) -> NextEditPlan:
    edit = settled_edit(before, after)
    assert isinstance(edit, Hunk)
    edited = EditedText(before=before, after=after, edit=edit, newest=edit.new_range)
    return plan_next_edits(edited, language)


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
        ("a\x0c\nb\u2028\n", "x\x0c\nb\u2028\n", correction(1, 1, "y\u2028\n"), "x\x0c\ny\u2028\n"),
        (
            "a\nb\n",
            "x\nb\n",
            correction(1, 1, "y\u202e\n"),
            "the correction has invisible characters",
        ),
    ],
)
def test_lines_are_replaced_inserted_and_removed(before, after, edit, result):
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
def test_no_offer_touches_another_line(text, language, new, data):
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


LONG = "".join(f"value_{i} = compute({i})\n" for i in range(400))


def edited(before: str, after: str, silent: tuple[LineRange, ...] = ()) -> EditedText:
    edit = settled_edit(before, after)
    assert isinstance(edit, Hunk)
    return EditedText(before=before, after=after, edit=edit, newest=edit.new_range, silent=silent)


def split(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def check(plan: NextEditPlan, before: str, after: str) -> None:
    """Joined, the parts are whole lines of the new text; in their place, those of the old one."""
    old, new = plain_lines(before), plain_lines(after)
    shown_old = split("".join(part.before for part in plan.parts))
    shown_new = split("".join(part.after for part in plan.parts))
    first, last = plan.first_line, plan.first_line + len(shown_new)
    assert new[first:last] == shown_new
    assert new[:first] + shown_old + new[last:] == old
    for part in plan.parts[:-1]:
        assert all(not text or text.endswith("\n") for text in (part.before, part.after))
    assert all(not part.may_change for part in plan.parts if part.before != part.after)
    assert all(first <= line < last for line in plan.free_lines)


def test_the_window_holds_the_edit_and_what_is_around_it() -> None:
    after = LONG.replace("value_200 = compute(200)", "value_200 = other(200)")
    plan = plan_next_edits(edited(LONG, after), PYTHON)
    check(plan, LONG, after)
    assert [part.may_change for part in plan.parts] == [True, False, True]
    above, edit, below = plan.parts
    assert (edit.before, edit.after) == ("value_200 = compute(200)\n", "value_200 = other(200)\n")
    assert 0.7 * 3.2 * ABOVE_TOKENS < len(above.after) <= 3.2 * ABOVE_TOKENS
    assert 0.7 * 3.2 * BELOW_TOKENS < len(below.after) <= 3.2 * BELOW_TOKENS
    assert plan.example == EditExample(before=edit.before, after=edit.after)
    assert plan.first_line + above.after.count("\n") == 200 == plan.edit_line


def test_an_insertion_has_its_neighbours_in_the_example() -> None:
    plan = plan_next_edits(edited("a = 1\nc = 3\n", "a = 1\nb = 2\nc = 3\n"), PYTHON)
    assert plan.example == EditExample(before="a = 1\nc = 3\n", after="a = 1\nb = 2\nc = 3\n")
    at_end = plan_next_edits(edited("a = 1", "a = 1\nb = 2"), PYTHON)
    assert at_end.example == EditExample(before="a = 1\n", after="a = 1\nb = 2\n")


def test_accepted_offers_are_changed_parts_and_the_example_stays() -> None:
    first = LONG.replace("value_200 = compute(200)", "value_200 = other(200)")
    edit = settled_edit(LONG, first)
    assert isinstance(edit, Hunk)
    both = first.replace("value_210 = compute(210)", "value_210 = other(210)")
    newest = LineRange(start=210, end=211)
    plan = plan_next_edits(EditedText(before=LONG, after=both, edit=edit, newest=newest), PYTHON)
    check(plan, LONG, both)
    changed = [part.after for part in plan.parts if part.before != part.after]
    assert changed == ["value_200 = other(200)\n", "value_210 = other(210)\n"]
    assert plan.example == EditExample(
        before="value_200 = compute(200)\n", after="value_200 = other(200)\n"
    )
    assert plan.edit_line == 200


def test_a_window_starts_where_an_earlier_one_did() -> None:
    after = LONG.replace("value_200 = compute(200)", "value_200 = other(200)")
    reading = plan_reading(LONG, 205, PYTHON)
    plan = plan_next_edits(edited(LONG, after), PYTHON, [reading.window])
    assert plan.first_line == reading.first_line
    assert plan_next_edits(edited(LONG, after), PYTHON).first_line != reading.first_line


def test_dismissed_lines_may_not_change() -> None:
    silent = (LineRange(start=2, end=3), LineRange(start=5, end=5))
    before = "".join(f"v{i} = {i}\n" for i in range(8))
    after = before.replace("v0 = 0", "v0 = x")
    plan = plan_next_edits(edited(before, after, silent), PYTHON)
    check(plan, before, after)
    assert plan.free_lines == {1, 3, 4, 6, 7}
    assert not plan.may_change(LineRange(start=2, end=3))
    assert not plan.may_change(LineRange(start=1, end=3))
    assert plan.may_change(LineRange(start=3, end=5))
    assert not plan.may_change(LineRange(start=0, end=1))


def test_directions_without_a_free_line_are_known() -> None:
    first = plan_next_edits(edited("a = 1\nb = 2\n", "x = 1\nb = 2\n"), PYTHON)
    assert (first.has_lines("below"), first.has_lines("above")) == (True, False)
    last = plan_next_edits(edited("a = 1\nb = 2\n", "a = 1\ny = 2\n"), PYTHON)
    assert (last.has_lines("below"), last.has_lines("above")) == (False, True)


def test_huge_lines_are_left_out_of_the_window() -> None:
    huge = "x = '" + "a" * 300_000 + "'\n"
    before, after = huge + "a = 1\n" + huge, huge + "b = 1\n" + huge
    plan = plan_next_edits(edited(before, after), PYTHON)
    assert [(part.before, part.after) for part in plan.parts] == [("a = 1\n", "b = 1\n")]
    assert plan.first_line == 1


@settings(max_examples=300)
@given(pieces, languages, st.data())
def test_any_edit_of_any_text(text: str, language: object, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    after = text[:start] + data.draw(texts) + text[end:]
    edit = settled_edit(text, after)
    if not isinstance(edit, Hunk):
        return
    line = data.draw(st.integers(0, len(plain_lines(after))))
    silent = (LineRange(start=line, end=data.draw(st.integers(line, line + 3))),)
    earlier = [plan_reading(text, line, language).window]
    plan = plan_next_edits(edited(text, after, silent), language, earlier)
    check(plan, text, after)
    quiet = {at for it in silent for at in range(it.start, max(it.end, it.start + 1))}
    assert quiet.isdisjoint(plan.free_lines)


@settings(max_examples=200)
@given(pieces, languages, st.data())
def test_any_line_of_any_text_can_be_read(text: str, language: object, data: st.DataObject) -> None:
    line = data.draw(st.integers(0, 40))
    plan = plan_reading(text, line, language)
    (part,) = plan.parts
    assert part.before == part.after
    assert plan.example is None
    lines = split(part.after)
    assert plain_lines(text)[plan.first_line :][: len(lines)] == lines


BEFORE = "old(0)\nold(1)\nedit = a\nold(3)\nold(4)\n"
AFTER = BEFORE.replace("edit = a", "edit = b")


def find_all(rules, level="bold", before=BEFORE, after=AFTER):
    """Return the results in turn, and what the engine was asked."""
    edit = settled_edit(before, after)
    assert isinstance(edit, Hunk)
    edited = EditedText(before=before, after=after, edit=edit, newest=edit.new_range)
    plan = plan_next_edits(edited, language_for_id("python"))
    asked: list[FindNextEdits] = []
    control = FillControl(received_at=0.0)

    async def ask(request: FindNextEdits) -> NextEdits | NoSuggestion:
        asked.append(request)
        if rules == ["refuse"]:
            return NoSuggestion(reason="no")
        return find_by_rules(rules)(request, control)

    async def results() -> list[NextEditResult]:
        return [it async for it in find_offers(ask, plan, level, "a model")]

    return asyncio.run(results()), asked


def find(*args: Any, **kwargs: Any) -> tuple[NextEditResult, list[FindNextEdits]]:
    results, asked = find_all(*args, **kwargs)
    return results[-1], asked


def test_the_likeliest_place_is_offered_at_once_and_others_after_it() -> None:
    results, asked = find_all([rule("old", "new")])
    assert [[it.lines.start for it in result.offers] for result in results] == [[3], [3, 4]]
    assert [it.max_places for it in asked] == [1, 2]
    results, asked = find_all([rule("old(4)", "new(4)")])
    assert [[it.lines.start for it in result.offers] for result in results] == [[4]]
    assert len(asked) == 2


def test_no_further_place_is_corrected_where_the_likeliest_is_not_offered() -> None:
    results, asked = find_all([rule("old(3)", "new(3)", NOT_SHOWN), rule("old(4)", "new(4)")])
    assert [it.offers for it in results] == [()]
    assert [(it.direction, it.max_places) for it in asked] == [("below", 1), ("above", 1)]


def test_offers_below_come_first_and_end_the_search() -> None:
    result, asked = find([rule("old", "new")])
    assert [offer.applied_to(AFTER) for offer in result.offers] == [
        AFTER.replace("old(3)", "new(3)"),
        AFTER.replace("old(4)", "new(4)"),
    ]
    assert result.reason is None
    assert {(it.direction, it.model) for it in asked} == {("below", "a model")}


def test_above_is_searched_where_nothing_is_offered_below() -> None:
    result, asked = find([rule("old(1)", "new(1)"), rule("old(3)", "new(3)", NOT_SHOWN)])
    assert [offer.lines.start for offer in result.offers] == [1]
    assert [it.direction for it in asked] == ["below", "above", "above"]


def test_nothing_is_asked_where_no_line_may_change() -> None:
    result, asked = find([], before="a\n", after="b\n")
    assert (result.offers, asked) == ((), [])
    assert result.reason == "no other line may change"


@pytest.mark.parametrize(
    ("rules", "level", "reason"),
    [
        ([], "bold", "every other line fits the edit, or no correction was found"),
        ([rule("old", "new", BOLD)], "sure", "the corrections are not sure enough for this level"),
        (
            [rule("old", "new", NOT_SHOWN)],
            "bold",
            "the text would hardly become likelier by the edit",
        ),
        (["refuse"], "bold", "no"),
    ],
)
def test_no_offer_has_a_reason(rules: list[object], level: str, reason: str) -> None:
    result, _ = find(rules, level)
    assert (result.offers, result.reason) == ((), reason)


def test_the_levels_choose_among_the_corrections() -> None:
    rules = [rule("old(3)", "new(3)", SURE), rule("old(4)", "new(4)", BOLD)]
    bold, _ = find(rules, "bold")
    assert [offer.lines.start for offer in bold.offers] == [3, 4]
    sure, _ = find(rules, "sure")
    assert [offer.lines.start for offer in sure.offers] == [3]
    better = [rule("old(3)", "new(3)", BOLD), rule("old(4)", "new(4)", SURE)]
    best_first, _ = find(better, "bold")
    assert [offer.lines.start for offer in best_first.offers] == [4, 3]
