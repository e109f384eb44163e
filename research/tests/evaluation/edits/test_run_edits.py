"""A case is asked after the user's edit, and again as long as the first offer is right."""

from edit_runs import ScriptedFinder, edit_case, hunk, in_turn, place, rows_of

from intarsia_research.evaluation.edits.edit_case import with_hunks
from intarsia_research.evaluation.edits.finder import Found
from intarsia_research.evaluation.edits.run_edits import AskingWay

HUNKS = tuple(hunk(line, 1, f"new {line}") for line in (1, 4, 7, 10))
CASE = edit_case(*HUNKS)


async def test_the_first_hunk_is_the_user_s_edit() -> None:
    finder = ScriptedFinder(in_turn([]))
    (row,) = await rows_of([CASE], finder)
    (question,) = finder.questions
    assert finder.prepared == [question]
    assert question.before == CASE.before
    assert question.edited == question.present == with_hunks(CASE.before, HUNKS[:1])
    assert (question.newest_start, question.newest_end) == (1, 2)
    assert question.directions == ("below", "above")
    assert (row.user_hunk, row.first.put_in, row.first.in_window) == (0, (0,), (1, 2, 3))


async def test_the_last_hunk_may_be_the_user_s_edit() -> None:
    finder = ScriptedFinder(in_turn([place(4, 1, "new 4")]))
    way = AskingWay(user_edit="last", directions=("above",))
    (row,) = await rows_of([CASE], finder, way)
    assert finder.questions[0].edited == with_hunks(CASE.before, HUNKS[3:])
    assert finder.questions[0].directions == ("above",)
    assert (row.user_hunk, row.first.put_in) == (3, (3,))
    assert row.first.places[0].exact_hunks == (1,)


async def test_a_right_offer_is_put_in_and_the_next_is_asked_for() -> None:
    finder = ScriptedFinder(
        in_turn([place(7, 1, "new 7")], [place(4, 1, "wrong"), place(10, 1, "new 10")])
    )
    (row,) = await rows_of([CASE], finder)
    assert [step.put_in for step in row.steps] == [(0,), (0, 2)]
    second = finder.questions[1]
    assert second.edited == finder.questions[0].edited
    assert second.present == with_hunks(CASE.before, [HUNKS[0], HUNKS[2]])
    assert (second.newest_start, second.newest_end) == (7, 8)
    assert [(it.hunks, it.exact_hunks) for it in row.steps[1].places] == [((1,), ()), ((3,), (3,))]


async def test_a_chain_ends_when_all_is_put_in_and_after_four_further_steps() -> None:
    finder = ScriptedFinder(in_turn(*([place(n, 1, f"new {n}")] for n in (4, 7, 10, 13))))
    (row,) = await rows_of([CASE], finder)
    assert [step.put_in for step in row.steps] == [(0,), (0, 1), (0, 1, 2)]
    many = edit_case(*(hunk(line, 1, f"new {line}") for line in range(0, 16, 2)))
    finder = ScriptedFinder(in_turn(*([place(n, 1, f"new {n}")] for n in range(2, 16, 2))))
    (row,) = await rows_of([many], finder)
    assert len(row.steps) == 5


async def test_what_is_not_offered_or_is_a_control_begins_no_chain() -> None:
    finder = ScriptedFinder(lambda _: [place(4, 1, "new 4", level=None)])
    (row,) = await rows_of([CASE], finder)
    assert len(row.steps) == 1
    assert row.first.places[0].is_exact and row.first.offer("bold") is None
    (row,) = await rows_of([edit_case(HUNKS[0])], finder)
    assert row.is_control and len(row.steps) == 1


async def test_a_hunk_that_is_cut_by_the_window_is_not_in_it() -> None:
    case = edit_case(HUNKS[0], hunk(4, 1, "x"), hunk(6, 2, "y", "z"), hunk(9, 0, "w"))
    (row,) = await rows_of([case], ScriptedFinder(in_turn([]), window=(0, 7)))
    assert row.first.in_window == (1,)
    assert row.is_counted_edit
    (row,) = await rows_of([case], ScriptedFinder(in_turn([]), window=(0, 4)))
    assert row.first.in_window == () and not row.is_counted_edit


async def test_a_failure_is_kept_with_its_reason() -> None:
    failed = Found(first_line=0, end_line=99, is_failure=True, reason="busy", ms=5.0)
    (row,) = await rows_of([CASE], ScriptedFinder(lambda _: failed))
    assert (row.first.is_failure, row.first.reason) == (True, "busy")
    assert not row.is_counted_edit


async def test_an_insertion_may_be_made_at_any_of_several_lines_with_one_result() -> None:
    """Lines like those above it: it may be made above these, too."""
    far = edit_case(HUNKS[0], hunk(5, 0, "new", "line 3", "line 4"))
    finder = ScriptedFinder(in_turn([place(3, 0, "line 3", "line 4", "new")]))
    found = (await rows_of([far], finder))[0].first.places[0]
    assert (found.hunks, found.exact_hunks) == ((1,), (1,))
