"""``eval --edits``: from a set to figures, with an engine that corrects by rules."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from edit_runs import ScriptedFinder, edit_case, hunk, write_edit_set
from laboratory import run
from scripted_next_edits import rule

from intarsia.cli.errors import ExitCode
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.edit_record import read_edit_run
from intarsia_research.evaluation.edits.finder import Found, Question

HUNKS = (hunk(8, 1, "new 8"), hunk(11, 1, "new 11"))


@pytest.fixture
def edits(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl.gz"
    cases = [
        edit_case(*HUNKS, name="a", repo="owner/a"),
        edit_case(*HUNKS, name="b", repo="owner/b", language="go"),
        edit_case(HUNKS[0], name="c", repo="owner/b"),
    ]
    write_edit_set(path, cases)
    return path


def test_a_set_is_asked_saved_shown_and_compared(start_engine, edits: Path, tmp_path: Path):
    start_engine(next_edits=[rule("line 11", "new 11")])
    saved = tmp_path / "out" / "run.json"
    words = ("--edits", edits, "--direction", "below", "--save", saved)
    asked = run("eval", *words, "--json")
    assert asked.exit_code == ExitCode.OK, asked.stderr
    told = json.loads(asked.stdout)
    sure = told["figures"]["whole"]["levels"][0]
    assert (sure["offers"], sure["exact"]) == (2, 2)
    assert sure["false_on_controls"]["value"] == 1.0
    assert told["settings"]["direction"] == "below"
    shown = run("eval", "--show", saved)
    assert shown.exit_code == ExitCode.OK and "2 edits, 1 controls" in shown.stdout
    compared = run("eval", "--compare", saved, saved)
    assert compared.exit_code == ExitCode.OK and "3 cases in common" in compared.stdout
    as_json = run("eval", "--compare", saved, saved, "--json")
    assert json.loads(as_json.stdout)["pairs"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "builtin"), "--set is for holes: leave it out with --edits"),
        (("--decoding", "entropy"), "--decoding is for holes"),
        (("--edits-of", "owner/c"), "no case of owner/c in this set"),
        (("--lang", "klingon"), "klingon is no known language"),
    ],
)
def test_what_cannot_be_used_is_one_line(edits: Path, words: tuple[str, ...], message: str):
    result = run("eval", "--edits", edits, *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.stderr


def test_the_rows_so_far_are_saved_if_the_run_ends_early(edits: Path, tmp_path: Path, monkeypatch):
    """The finder answers one case; then no other could be answered either."""
    answers = iter([Found(first_line=0, end_line=99)])

    class EndingSystem:
        def __init__(self, **_: object) -> None: ...

        @asynccontextmanager
        async def ready(self) -> AsyncIterator[ScriptedFinder]:
            yield ScriptedFinder(self._answer)

        def _answer(self, question: Question) -> Found:
            answer = next(answers, None)
            if answer is None:
                raise EvaluationFault("the engine is gone: start it again")
            return answer

    monkeypatch.setattr("intarsia_research.commands.eval.edits.EngineFinderSystem", EndingSystem)
    saved = tmp_path / "run.json"
    result = run("eval", "--edits", edits, "--save", saved)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.splitlines()[-1].endswith("the engine is gone: start it again")
    assert [row.case for row in read_edit_run(saved).rows] == ["a"]
