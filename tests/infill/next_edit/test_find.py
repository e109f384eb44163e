"""The text below an edit is searched first, the text above it if nothing is offered below.

The likeliest place is offered first, and further ones after it.
"""

import asyncio
from typing import Any

import pytest
from scripted_next_edits import BOLD, NOT_SHOWN, SURE, find_by_rules, rule

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import FindNextEdits, NextEdits
from intarsia.infill.languages import language_for_id
from intarsia.infill.next_edit.find import NextEditResult, find_offers
from intarsia.infill.next_edit.plan import EditedText, plan_next_edits
from intarsia.infill.next_edit.settled_edit import Hunk, settled_edit
from intarsia.infill.suggestion import NoSuggestion

BEFORE = "old(0)\nold(1)\nedit = a\nold(3)\nold(4)\n"
AFTER = BEFORE.replace("edit = a", "edit = b")


def find_all(
    rules: list[object], level: str = "bold", before: str = BEFORE, after: str = AFTER
) -> tuple[list[NextEditResult], list[FindNextEdits]]:
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
        return find_by_rules(rules)(request, control)  # type: ignore[arg-type]

    async def results() -> list[NextEditResult]:
        return [it async for it in find_offers(ask, plan, level, "a model")]  # type: ignore[arg-type]

    return asyncio.run(results()), asked


def find(*args: Any, **kwargs: Any) -> tuple[NextEditResult, list[FindNextEdits]]:
    """Return the last result."""
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
