"""Cases and runs of edits as files: what is written is read; runs are compared."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest
from edit_runs import (
    LINES,
    ScriptedFinder,
    edit_case,
    hunk,
    in_turn,
    place,
    rows_of,
    write_edit_set,
)
from msgspec import structs

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.compare_edits import compare_edits
from intarsia_research.evaluation.edits.edit_case import (
    CommitHunk,
    choose_cases,
    lines_of,
    read_edit_set,
    with_hunks,
)
from intarsia_research.evaluation.edits.edit_record import EditRecording, EditRun, read_edit_run
from intarsia_research.evaluation.edits.still_open import (
    Replacement,
    exact_hunks,
    hunks_of_line,
    open_hunks,
    present_lines,
    present_text,
    touched,
)
from intarsia_research.evaluation.record import read_run, run_is_of, write_saved

BEFORE = "a = 1\nb = a\nc = a\n"
HUNKS = (
    CommitHunk(start=0, end=1, old_text="a = 1\n", new_text="z = 1\n"),
    CommitHunk(start=1, end=1, old_text="", new_text="y = 2\n"),
    CommitHunk(start=2, end=3, old_text="c = a\n", new_text=""),
)
CASE = edit_case(*HUNKS, kind="other", before=BEFORE)


def damaged(**fields: object) -> bytes:
    return json.dumps(msgspec.to_builtins(CASE) | fields).encode()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    cases = [CASE, structs.replace(CASE, id="two", kind="control", hunks=HUNKS[:1])]
    write_edit_set(tmp_path / "set.jsonl.gz", cases)
    assert read_edit_set(tmp_path / "set.jsonl.gz") == cases


def test_hunks_are_put_in() -> None:
    assert with_hunks(BEFORE, HUNKS) == "z = 1\ny = 2\nb = a\n"
    assert with_hunks(BEFORE, HUNKS[:1]) == "z = 1\nb = a\nc = a\n"


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\n\n", "\n", "a\x0cb\nc\u2028d\n"])
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(lines_of(text)) == text
    assert len(lines_of(text)) == text.count("\n") + (not text.endswith("\n") and text != "")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"{", "line 2 of"),
        (damaged(id=7), "Expected `str`"),
        (damaged(kind="odd"), "Invalid enum value 'odd'"),
        (damaged(before="b = a\nb = a\nc = a\n"), "does not have the old lines of hunk 0"),
        (damaged(before=BEFORE[:-1]), "whole lines"),
        (damaged(before=BEFORE.replace("\n", "\r\n")), "whole lines"),
        (damaged(hunks=[]), "it has 0 hunks"),
        (damaged(kind="control"), "it has 3 hunks"),
        (damaged(before="a = 1\n"), "hunk 2 is outside of the text"),
        (damaged(hunks=msgspec.to_builtins(HUNKS[::-1])), "overlaps the hunk above it"),
        (damaged(), "two cases 'one'"),
    ],
)
def test_a_damaged_row_is_one_line(tmp_path: Path, row: bytes, words: str) -> None:
    file = tmp_path / "set.jsonl.gz"
    with gzip.open(file, "wb") as rows:
        rows.write(damaged() + b"\n" + row + b"\n")
    with pytest.raises(EvaluationFault, match=words) as raised:
        read_edit_set(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("data", [b"", b"text", gzip.compress(damaged())[:-30]])
def test_a_damaged_file_is_one_line(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "set.jsonl.gz"
    file.write_bytes(data)
    with pytest.raises(EvaluationFault):
        read_edit_set(file)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(EvaluationFault, match="is no set of edits"):
        read_edit_set(tmp_path / "none")


TWO_HUNKS = (hunk(1, 1, "new 1"), hunk(4, 1, "new <4>"))
RIGHT, WRONG = place(4, 1, "new <4>"), place(4, 1, "odd")
CASES = [
    edit_case(*TWO_HUNKS, name="a", repo="owner/a"),
    edit_case(*TWO_HUNKS, name="b", repo="owner/b", language="go", kind="rename"),
    edit_case(*TWO_HUNKS, name="c", repo="owner/b"),
    edit_case(TWO_HUNKS[0], name="d", repo="owner/a"),
]


async def run_of(*answers: list) -> EditRun:
    finder = ScriptedFinder(in_turn(*answers))
    recording = EditRecording(machine="a machine", settings={"seed": 7}, finder=finder.info)
    recording.rows += await rows_of(CASES[: len(answers)], finder)
    return recording.as_run()


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


OPEN_CASE = edit_case(
    hunk(2, 1, "two", "and more"),  # lines below move down by one
    hunk(6, 2, "six", "seven"),
    hunk(8, 0, "inserted"),  # right after the hunk above
    hunk(12, 1),  # removed
    hunk(15, 1, "a", "b"),
)
LINES_AFTER = lines_of(present_text(OPEN_CASE, {0}))
OPEN = open_hunks(OPEN_CASE, {0})


def offer(line: int, num_lines: int, *new_lines: str) -> Replacement:
    text = "".join(f"{line}\n" for line in new_lines)
    return Replacement(first_line=line, num_lines=num_lines, text=text)


def test_hunks_are_in_the_lines_of_the_present_text() -> None:
    assert [(it.number, it.start, it.end) for it in OPEN] == [
        (1, 7, 9),
        (2, 9, 9),
        (3, 13, 14),
        (4, 16, 17),
    ]
    later = open_hunks(OPEN_CASE, {0, 3})
    assert [(it.number, it.start) for it in later] == [(1, 7), (2, 9), (4, 15)]
    assert present_lines(OPEN_CASE, {0}, 0) == (2, 4)
    assert present_lines(OPEN_CASE, {0, 1, 3}, 3) == (13, 13)
    assert present_lines(OPEN_CASE, {0, 1, 3, 4}, 4) == (15, 17)


def test_all_hunks_put_in_are_the_file_after_the_commit() -> None:
    lines = present_text(OPEN_CASE, range(5)).splitlines()
    assert lines[2:4] == ["two", "and more"]
    assert lines[7:10] == ["six", "seven", "inserted"]
    assert "line 12" not in lines
    assert lines[16:18] == ["a", "b"]
    assert len(lines) == len(LINES) + 1 + 1 - 1 + 1


@pytest.mark.parametrize(
    ("one", "numbers"),
    [
        (offer(7, 2, "six", "seven"), (1,)),
        (offer(7, 1, "six"), (1,)),  # a line of a hunk of as many
        (offer(8, 1, "seven  "), (1,)),  # blanks at the end
        (offer(9, 0, "inserted"), (2,)),
        (offer(8, 1, "line 7", "inserted"), (2,)),  # with a line that stays
        (offer(7, 2, "six", "seven", "inserted"), (1, 2)),
        (offer(13, 1), (3,)),
        (offer(16, 1, "a", "b"), (4,)),
        (offer(7, 1, "seven"), ()),
        (offer(7, 2, "six"), ()),
        (offer(9, 0, "other"), ()),
        (offer(9, 0), ()),
        (offer(13, 1, ""), ()),  # an empty line is left
        (offer(16, 1, "a"), ()),  # part of a hunk of more lines
        (offer(0, 1, "six"), ()),
        (offer(16, 1, "line 15"), ()),  # nothing changes
        (offer(7, 1, "line 6  "), ()),
    ],
)
def test_an_offer_is_exact_if_it_puts_in_what_the_commit_changed(one, numbers):
    assert exact_hunks(one, LINES_AFTER, OPEN) == numbers


@pytest.mark.parametrize(
    ("one", "numbers"),
    [
        (offer(7, 1, "x"), [1]),
        (offer(8, 1, "x"), [1, 2]),
        (offer(6, 1, "x"), []),
        (offer(9, 0, "x"), [1, 2]),
        (offer(13, 0, "x"), [3]),
        (offer(14, 0, "x"), [3]),
        (offer(14, 1, "x"), []),
        (offer(10, 2, "x"), []),
    ],
)
def test_places_touch_hunks(one: Replacement, numbers: list[int]) -> None:
    assert [it.number for it in touched(one, OPEN)] == numbers


def test_an_insertion_is_at_the_line_after_it() -> None:
    assert hunks_of_line(9, OPEN) == (2,)
    assert hunks_of_line(8, OPEN) == (1,)
    assert hunks_of_line(10, OPEN) == ()
    assert hunks_of_line(None, OPEN) == ()
