"""Figures of runs of edits, counted by hand."""

import pytest
from edit_runs import ScriptedFinder, edit_case, hunk, in_turn, place, rows_of

from intarsia_research.evaluation.edits.edit_figures import LevelFigures, PartFigures, edit_figures
from intarsia_research.evaluation.edits.edit_record import EditRow
from intarsia_research.evaluation.edits.finder import Found, Level
from intarsia_research.evaluation.edits.row_worth import keys_of, num_reached, place_shape

HUNKS = tuple(hunk(line, 1, f"new {line}") for line in (1, 4, 7))
EDIT = edit_case(*HUNKS)
CONTROL = edit_case(HUNKS[0])
RIGHT, WRONG = place(4, 1, "new 4"), place(4, 1, "odd")
BOLD_RIGHT = place(4, 1, "new 4", level="bold")


async def row(*answers: list, case=EDIT, window: tuple[int, int] = (0, 99)) -> EditRow:
    (one,) = await rows_of([case], ScriptedFinder(in_turn(*answers), window=window))
    return one


def level_of(part: PartFigures, level: Level) -> LevelFigures:
    return next(own for own in part.levels if own.level == level)


async def test_offers_are_counted_at_their_level_and_at_bolder_ones() -> None:
    rows = [
        await row([RIGHT], []),
        await row([BOLD_RIGHT], []),
        await row([WRONG]),
        await row([place(12, 1, "odd", level="balanced")]),
        await row([]),
        await row([RIGHT], case=CONTROL),
        await row([], case=CONTROL),
        await row([], case=CONTROL),
        await row([place(9, 1, "odd", level="bold")], case=CONTROL),
    ]
    whole = edit_figures(rows).whole
    assert (whole.edits, whole.controls, whole.out_of_window, whole.failures) == (5, 4, 0, 0)
    assert whole.ranked_first and (whole.ranked_first.value, whole.ranked_first.of) == (0.6, 5)
    sure, balanced, bold = whole.levels
    assert [(it.offers, it.exact) for it in (sure, balanced, bold)] == [(2, 1), (3, 1), (4, 2)]
    assert [it.precision and it.precision.value for it in whole.levels] == [0.5, 1 / 3, 0.5]
    assert bold.at_right_place and (bold.at_right_place.value, bold.at_right_place.of) == (0.75, 4)
    assert [it.edits_exact and it.edits_exact.value for it in whole.levels] == [0.2, 0.2, 0.4]
    assert [it.false_on_controls and it.false_on_controls.value for it in whole.levels] == [
        0.25,
        0.25,
        0.5,
    ]


async def test_edits_without_a_place_in_the_window_and_failures_are_left_out() -> None:
    failed = Found(first_line=0, end_line=99, is_failure=True, reason="busy")
    (failure,) = await rows_of([EDIT], ScriptedFinder(lambda _: failed))
    rows = [await row([RIGHT], []), await row([WRONG], window=(0, 3)), failure]
    whole = edit_figures(rows).whole
    assert (whole.edits, whole.out_of_window, whole.failures) == (1, 1, 1)
    assert level_of(whole, "sure").offers == 1


async def test_a_run_without_offers_has_no_precision() -> None:
    whole = edit_figures([await row([])]).whole
    assert level_of(whole, "sure").precision is None
    assert level_of(whole, "sure").false_on_controls is None
    assert level_of(whole, "sure").reached_after_right is None


async def test_chains_are_counted_at_each_level() -> None:
    later = place(7, 1, "new 7", level="bold")
    chained = await row([RIGHT], [later])
    assert [num_reached(chained, level) for level in ("sure", "balanced", "bold")] == [1, 1, 2]
    rows = [chained, await row([WRONG]), await row([RIGHT], [WRONG])]
    sure, _, bold = edit_figures(rows).whole.levels
    assert bold.reached_after_right and bold.reached_after_right.value == 3 / 4
    assert sure.reached_after_right and sure.reached_after_right.value == 2 / 4
    assert bold.reached and bold.reached.value == 3 / 6


async def test_a_surer_level_follows_the_recorded_chain_only_while_it_offers_the_same() -> None:
    """The bold level puts in the second hunk first; the sure one would have begun elsewhere."""
    other = place(7, 1, "new 7", level="sure")
    forked = await row([BOLD_RIGHT, other], [other])
    assert num_reached(forked, "bold") == 2
    assert num_reached(forked, "sure") == 1


async def test_keys_are_saved_by_right_offers_and_lost_by_wrong_ones() -> None:
    rows = [await row([RIGHT], []), await row([WRONG])]
    needed = keys_of("line 4\n", "new 4\n")
    saved = level_of(edit_figures(rows).whole, "sure").keys_saved
    assert saved and saved.value == pytest.approx((needed - 2 - 1) / (4 * needed))


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ("cost\n", "costs\n", 1),
        ("a b c\n", "a c\n", 1),
        ("", "\n    x = 1\n", 6),
        ("    a\n", "        a\n", 0),
        ("abc\n", "xyz\n", 4),
    ],
)
def test_keys_are_new_characters_and_removed_runs(old: str, new: str, keys: int) -> None:
    assert keys_of(old, new) == keys


async def test_parts_divide_the_cases() -> None:
    rows = [
        await row([RIGHT], [], case=edit_case(*HUNKS, name="1", repo="psf/requests")),
        await row([WRONG], case=edit_case(*HUNKS, name="2", kind="rename", date="2024-09-30")),
        await row([], case=edit_case(HUNKS[0], name="3", language="go")),
    ]
    parts = edit_figures(rows).parts
    assert {name: part.edits for name, part in parts["repositories"].items()} == {
        "in our corpus": 1,
        "others": 1,
    }
    assert parts["repositories"]["others"].controls == 1
    assert {name: part.edits for name, part in parts["commits"].items()} == {
        "older": 1,
        "since October 2024": 1,
    }
    assert list(parts["kind of edit"]) == ["rename", "same"]
    assert {name: (it.edits, it.controls) for name, it in parts["language"].items()} == {
        "go": (0, 1),
        "python": (2, 0),
    }


@pytest.mark.parametrize(
    ("second", "shape"),
    [
        (hunk(4, 1, "x"), "one line"),
        (hunk(4, 2, "x"), "several lines"),
        (hunk(4, 1, "x", "y"), "several lines"),
        (hunk(4, 0, "x"), "insertion"),
        (hunk(4, 0, "import os"), "import"),
        (hunk(4, 1), "removal"),
    ],
)
async def test_shapes_are_those_of_the_place(second, shape: str) -> None:
    case = edit_case(HUNKS[0], second, hunk(10, 3, "x"))
    assert place_shape(await row([], case=case)) == shape
    assert place_shape(await row([place(10, 1, "x")], case=case)) == "several lines"
