"""The text below an edit is searched first, the text above it if nothing is offered below."""

import asyncio

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


def find(
    rules: list[object], level: str = "bold", before: str = BEFORE, after: str = AFTER
) -> tuple[NextEditResult, list[FindNextEdits]]:
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

    return asyncio.run(find_offers(ask, plan, level, "a model")), asked  # type: ignore[arg-type]


def test_offers_below_come_first_and_end_the_search() -> None:
    result, asked = find([rule("old", "new")])
    assert [offer.applied_to(AFTER) for offer in result.offers] == [
        AFTER.replace("old(3)", "new(3)"),
        AFTER.replace("old(4)", "new(4)"),
    ]
    assert result.reason is None
    assert [(it.direction, it.model) for it in asked] == [("below", "a model")]


def test_above_is_searched_where_nothing_is_offered_below() -> None:
    result, asked = find([rule("old(1)", "new(1)"), rule("old(3)", "new(3)", NOT_SHOWN)])
    assert [offer.lines.start for offer in result.offers] == [1]
    assert [it.direction for it in asked] == ["below", "above"]


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
    rules = [rule("old(3)", "new(3)", BOLD), rule("old(4)", "new(4)", SURE)]
    bold, _ = find(rules, "bold")
    assert [offer.lines.start for offer in bold.offers] == [4, 3]
    sure, _ = find(rules, "sure")
    assert [offer.lines.start for offer in sure.offers] == [4]
