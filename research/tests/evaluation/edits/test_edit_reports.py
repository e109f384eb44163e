"""Saved runs of edits, their comparison and their tables."""

import io
from pathlib import Path

import msgspec
import pytest
from edit_runs import ScriptedFinder, edit_case, hunk, in_turn, place, rows_of
from rich.console import Console

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.compare_edits import compare_edits
from intarsia_research.evaluation.edits.edit_case import choose_cases
from intarsia_research.evaluation.edits.edit_record import EditRecording, EditRun, read_edit_run
from intarsia_research.evaluation.record import read_run, run_is_of, write_saved
from intarsia_research.evaluation.report_comparison import comparison_table, discordant_table

HUNKS = (hunk(1, 1, "new 1"), hunk(4, 1, "new <4>"))
RIGHT, WRONG = place(4, 1, "new <4>"), place(4, 1, "odd")
CASES = [
    edit_case(*HUNKS, name="a", repo="owner/a"),
    edit_case(*HUNKS, name="b", repo="owner/b", language="go", kind="rename"),
    edit_case(*HUNKS, name="c", repo="owner/b"),
    edit_case(HUNKS[0], name="d", repo="owner/a"),
]


async def run_of(*answers: list) -> EditRun:
    finder = ScriptedFinder(in_turn(*answers))
    recording = EditRecording(machine="a machine", settings={"seed": 7}, finder=finder.info)
    recording.rows += await rows_of(CASES[: len(answers)], finder)
    return recording.as_run()


def shown(*tables) -> str:
    console = Console(file=io.StringIO(), width=140)
    for table in tables:
        console.print(table)
    return console.file.getvalue()


async def test_a_saved_run_is_read_as_it_was(tmp_path: Path) -> None:
    run = await run_of([RIGHT], [WRONG], [], [WRONG])
    write_saved(run, tmp_path / "run.json")
    assert read_edit_run(tmp_path / "run.json") == run
    assert run_is_of(tmp_path / "run.json") == "edits"


async def test_runs_of_holes_and_of_edits_are_told_apart(tmp_path: Path) -> None:
    write_saved(await run_of([]), tmp_path / "edits.json")
    with pytest.raises(EvaluationFault, match="is a run of edits, not of holes"):
        read_run(tmp_path / "edits.json")
    (tmp_path / "holes.json").write_text('{"version": 2, "rows": []}')
    assert run_is_of(tmp_path / "holes.json") == "holes"
    with pytest.raises(EvaluationFault, match="is a run of holes, not of edits"):
        read_edit_run(tmp_path / "holes.json")
    (tmp_path / "old.json").write_text('{"version": 0, "of": "edits"}')
    with pytest.raises(EvaluationFault, match="of version 0, this intarsia reads version 1"):
        read_edit_run(tmp_path / "old.json")


async def test_two_runs_are_compared_case_by_case() -> None:
    first = await run_of([WRONG], [RIGHT], [RIGHT], [WRONG])
    second = await run_of([RIGHT], [], [RIGHT], [])
    found = compare_edits(first.rows, second.rows)
    assert found.pairs == 4
    only = {name: (one.only_first, one.only_second) for name, one in found.shares.items()}
    assert only["sure: exact"] == (1, 1) and only["sure: wrong"] == (1, 0)
    assert only["sure: false on controls"] == (1, 0)
    ranked = found.shares["right line ranked first"]
    assert (ranked.first, ranked.of) == (1.0, 3)
    assert [(it.case, it.is_right_in_second, it.wrong) for it in found.discordant] == [
        ("a", True, "odd\n"),
        ("b", False, ""),
    ]
    words = shown(
        comparison_table(found, "one", "two", cases="cases"), discordant_table(found, "one", "two")
    )
    assert "4 cases in common" in words
    assert "sure: exact" in words and "1 / 1" in words and "(nothing)" in words


async def test_only_cases_with_the_same_edit_are_compared() -> None:
    run = await run_of([RIGHT], [])
    other = [msgspec.structs.replace(row, user_hunk=1) for row in run.rows]
    with pytest.raises(EvaluationFault, match="no case in common"):
        compare_edits(run.rows, other)
    found = compare_edits(run.rows, [other[0], run.rows[1]])
    assert (found.pairs, found.changed) == (1, 1)
    found = compare_edits(run.rows, run.rows[:1])
    assert (found.pairs, found.left_out_of_first) == (1, 1)


def test_cases_are_chosen_by_repository_language_and_seed() -> None:
    assert [it.id for it in choose_cases(CASES, repositories=["Owner/B"])] == ["b", "c"]
    assert [it.id for it in choose_cases(CASES, languages=["go"])] == ["b"]
    drawn = {tuple(it.id for it in choose_cases(CASES, limit=2, seed=n)) for n in range(20)}
    assert len(drawn) > 2 and all(list(ids) == sorted(ids) for ids in drawn)
    assert choose_cases(CASES, limit=2, seed=3) == choose_cases(CASES, limit=2, seed=3)
    assert choose_cases(CASES, limit=9) == CASES
    with pytest.raises(EvaluationFault, match="no case of owner/c in this set: it has owner/a"):
        choose_cases(CASES, repositories=["owner/c"])
    with pytest.raises(EvaluationFault, match="no case of these languages"):
        choose_cases(CASES, languages=["rust"])
