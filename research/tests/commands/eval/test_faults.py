"""eval: what is asked wrongly is one line; a set of edits is asked, saved and compared."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from edit_runs import ScriptedFinder, edit_case, hunk, write_edit_set
from judged_rows import row, run_of
from laboratory import run
from scripted_next_edits import rule

from intarsia.cli.errors import ExitCode
from intarsia.workspace.context.chunk import ChunkOptions
from intarsia_research.commands.eval.context import CHOICES, KINDS, chunk_options, gives_names
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.edit_record import read_edit_run
from intarsia_research.evaluation.edits.finder import Found, Question
from intarsia_research.evaluation.record import write_saved


def check(*words: str | Path, said: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
    result = run("eval", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.count("\n") == 1, result.stderr
    assert said in result.stderr


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    write_saved(run_of(row("1")), path)
    return path


def test_things_that_do_not_go_together_are_refused(kept: Path, tmp_path: Path):
    new = tmp_path / "new"
    check("--compare", kept, kept, "--save", new, said="--compare prints")
    check("--compare", kept, kept, "--show", kept, said="--compare prints")
    check("--show", kept, "--save", new, said="leave --save out")
    check("--system", "speculative", said="goes with --compare")
    three = ("--system", "a") * 3
    check("--compare", kept, kept, *three, said="twice at most")
    check("--direct", "--invoked", said="without --direct")
    check("--context", "similar", said="give --context with --direct")
    assert not new.exists()


@pytest.mark.parametrize("data", [b"hello", b"{}", b"[]", b"\xff"])
def test_a_file_that_is_no_run_is_told(tmp_path: Path, kept: Path, data: bytes):
    path = tmp_path / "other.json"
    path.write_bytes(data)
    check("--show", path, said="no run")
    check("--compare", kept, path, said="no run")


def test_a_run_of_another_version_is_told(kept: Path):
    kept.write_text('{"version":1,"contestants":[],"rows":[]}')
    check("--show", kept, said="a run of version 1, this intarsia reads version 2")
    check("--compare", kept, kept, said="a run of version 1, this intarsia reads version 2")


def test_a_set_that_is_none_is_told(tmp_path: Path):
    check("--set", "nonesuch", said="builtin, project, members, single-line")
    check("--set", tmp_path, said="no set and no file")
    (tmp_path / "words.jsonl").write_text("hello\n")
    check("--set", tmp_path / "words.jsonl", said="line 1 of")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("single-line", "HumanEval-SingleLineInfilling.jsonl.gz"),
        ("random-span-light", "HumanEval-RandomSpanInfillingLight.jsonl.gz"),
    ],
)
def test_where_the_benchmark_is_missing_its_address_is_told(tmp_path: Path, name: str, file: str):
    address = "https://github.com/openai/human-eval-infilling/raw/master/data/"
    check("--set", name, "--humaneval", tmp_path, said=f"{address}{file}")


def test_languages_and_kinds_that_are_none_are_told(tmp_path: Path):
    check("--lang", "klingon", said="klingon is no known language")
    check("--kind", "verse", said="is not one of")
    (tmp_path / "empty.py").write_text("# nothing\n")
    check("--repo", tmp_path, said="no hole in these files")


def test_a_baseline_that_cannot_be_is_told(tmp_path: Path):
    none = tmp_path / "llama-server"
    check("--limit", "1", "--against", "llama.cpp", "--llama-server", none, said="no program")
    words = ("--limit", "1", "--against", "transformers", "--model", "owner/name")
    check(*words, said="baselines run GGUF files")


def test_a_model_that_is_none_has_the_model_s_exit_code(start_engine, tmp_path: Path):
    start_engine(text="1")
    (tmp_path / "a.py").write_text("first = 1\n")
    words = ("--repo", tmp_path, "--direct", "--model", "missing")
    check(*words, said="no model 'missing'", code=ExitCode.MODEL)


def test_a_file_that_cannot_be_written_is_told_before_the_work(tmp_path: Path):
    (tmp_path / "file").write_text("")
    words = ("--limit", "1", "--save", tmp_path / "file" / "run.json")
    check(*words, said="file", code=ExitCode.INTERNAL)


@pytest.mark.parametrize(
    ("option", "values", "said"),
    [
        ("--window", "500 500+ +150 9+150 500+99999 500+-1 a+b", "such as 500+150"),
        ("--context", "some edits all:0 no-all", "' is not one of 'none', 'all', 'signatures'"),
    ],
)
def test_a_window_or_context_that_is_none_is_told(option: str, values: str, said: str) -> None:
    for value in values.split():
        result = run("eval", option, value, "--direct")
        assert result.exit_code == ExitCode.BAD_INPUT
        assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_names_one_kind_or_leaves_it_out(choice: str) -> None:
    alone, others = choice, set(KINDS) - {choice.removeprefix("no-")}
    assert gives_names(choice) == (choice in ("all", "names"))
    options = chunk_options(choice, None)
    if choice == "none":
        assert options is None
    else:
        assert options.kinds == ({alone} & set(KINDS) if alone in (*KINDS, "names") else others)
        assert options.budget_tokens == ChunkOptions().budget_tokens


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
        (("--decoding", "autoregressive"), "--decoding is for holes"),
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
