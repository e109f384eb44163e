"""``eval``: from sets to figures, with an engine that fills by rules; two kept runs compared."""

import asyncio
import gzip
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from judged_rows import exact, row, run_of
from laboratory import run, spawn
from scripted_system import ScriptedSystem

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia_research.evaluation.answer import Answer, failed
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import Row, read_run, write_saved


def problem(name: str, line: str, expected: int) -> dict[str, str]:
    return {
        "task_id": f"SingleLineInfilling/Toy/{name}/L0",
        "entry_point": name,
        "prompt": f"def {name}(a, b):\n",
        "suffix": "",
        "canonical_solution": f"    {line}",
        "test": f"def check(candidate):\n    assert candidate(6, 3) == {expected}\n",
    }


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    problems = [
        problem("add", "return a + b", 9),
        problem("swap", "return b + a", 9),
        problem("sub", "return a - b", 3),
    ]
    path = tmp_path / "toy.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, problems)).encode()))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source" / "count.py"
    path.parent.mkdir()
    path.write_text("first = 1\nsecond = 2\nthird = 3\nfourth = 4\n")
    return path


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    """Provide one system, called scripted, that answers by rule."""

    def use(answer: Callable[[Case], str]) -> None:
        system = ScriptedSystem("scripted", [], answer)
        monkeypatch.setattr(
            "intarsia_research.commands.eval.command.systems_of", lambda asked: [system]
        )

    return use


def write_sum(case: Case) -> str:
    return "    return a + b"


def test_the_figures_of_every_system_are_told(start_engine, toy: Path):
    start_engine(text="    return a + b")
    names = ("autoregressive", "speculative", "autoregressive")
    words = [f"--decoding={name}" for name in names]
    result = run("eval", "--set", toy, *words, "--direct", "--exec", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert [info["name"] for info in told["systems"]] == ["autoregressive", "speculative"]
    assert {info["way"] for info in told["systems"]} == {"direct"}
    (one,) = told["sets"]
    assert (one["set"], one["cases"]) == ("humaneval-single-line", 3)
    for system in one["systems"]:
        whole = system["whole"]
        assert whole["exact"]["value"] == pytest.approx(1 / 3)
        assert whole["pass_at_1"]["value"] == pytest.approx(2 / 3)
        assert whole["exact"]["low"] < 1 / 3 < whole["exact"]["high"]
        assert whole["same_as_first"]["value"] == 1
        assert whole["ms_p50"]["value"] <= whole["ms_p95"]["value"]
    assert told["settings"]["decoding"] == ["autoregressive", "speculative"]
    assert "machine" in told


def test_an_editor_s_way_is_the_usual_one(start_engine, source: Path):
    start_engine(rules=[("first = 1\n", "second = 2")], text="other = 0")
    result = run("eval", "--repo", source, "--kind", "line", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["systems"][0]["way"] == "language server"
    whole = told["sets"][0]["systems"][0]["whole"]
    assert (whole["cases"], whole["exact"]["value"], whole["failures"]) == (4, 0.25, 0)
    assert whole["pass_at_1"] is None
    assert result.stderr == ""


def test_a_run_is_kept_and_shown_again_with_the_same_figures(script, toy: Path, tmp_path):
    script(write_sum)
    kept = tmp_path / "deep" / "run.json"
    made = run("eval", "--set", toy, "--limit", 2, "--save", kept, "--exec", "--json")
    assert made.exit_code == 0, made.stderr
    assert "2 answers" in made.stderr
    shown = run("eval", "--show", kept, "--json")
    assert shown.exit_code == 0, shown.stderr
    assert json.loads(shown.stdout) == json.loads(made.stdout)
    assert [row.judgement.passed is None for row in read_run(kept).rows] == [False, False]


def test_a_hole_without_an_answer_is_told_and_has_its_exit_code(script, toy, monkeypatch):
    async def fill(self: ScriptedSystem, case: Case) -> Answer:
        return failed("the engine went away: try again", 1.0)

    monkeypatch.setattr(ScriptedSystem, "fill", fill)
    script(write_sum)
    result = run("eval", "--set", toy, "--exec", "--json")
    assert result.exit_code == ExitCode.NOTHING
    assert result.stderr.count("no answer: ") == 3
    whole = json.loads(result.stdout)["sets"][0]["systems"][0]["whole"]
    assert (whole["failures"], whole["pass_at_1"]["value"], whole["empty"]) == (3, 0, None)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_the_process_keeps_what_was_done(
    start_engine, address, source, tmp_path, sent
):
    start_engine(text="1", num_steps=20, step_seconds=0.01)
    source.write_text("".join(f"value_{number} = {number}\n" for number in range(200)))
    kept = tmp_path / "run.json"
    process = spawn("eval", "--repo", source, "--kind", "line", "--direct", "--save", kept)
    asyncio.run(until_filled(address, 3))
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert b"intarsia: interrupted" in errors and b"Traceback" not in errors
    assert 1 <= len(read_run(kept).rows) < 200


async def until_filled(address: Address, num_fills: int) -> None:
    """Ask until so many holes are filled; the test's time limit ends a vain wait."""
    async with EngineClient(name="test", start=False, address=address) as client:
        while (await client.status()).num_fills < num_fills:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def test_the_default_is_the_builtin_set(script):
    script(lambda case: case.truth)
    result = run("eval", "--limit", 6, "--json")
    assert result.exit_code == 0, result.stderr
    (one,) = json.loads(result.stdout)["sets"]
    assert (one["set"], one["cases"]) == ("builtin", 6)
    assert one["systems"][0]["whole"]["exact"]["value"] == 1


def test_windows_and_contexts_are_systems_of_one_run(start_engine, tmp_path: Path):
    start_engine(text="b(2)")
    (tmp_path / "names.py").write_text("def b(number):\n    return number\n")
    (tmp_path / "uses.py").write_text("from names import b\n\n\nfirst = b(1)\nsecond = b(2)\n")
    words = ("--window", "200+50", "--window", "500+150", "--context", "none", "--context", "all")
    result = run("eval", "--repo", tmp_path, "--kind", "line", "--direct", *words, "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert [system["name"] for system in told["systems"]] == [
        *("speculative 200+50 none", "speculative 200+50 all"),
        *("speculative 500+150 none", "speculative 500+150 all"),
    ]
    details = told["systems"][1]["details"]
    assert details["prefix_tokens"] == "200" and details["suffix_tokens"] == "50"
    assert details["context"] == "members, recent_edit, sibling, signatures, similar"
    assert told["settings"]["window"] == ["200+50", "500+150"]
    assert told["settings"]["context"] == ["none", "all"]


def test_documented_bodies_are_filled_unasked_too(start_engine, tmp_path: Path):
    start_engine(text="return a + b")
    documented = '"""Add.\n\n    >>> add(1, 2)\n    3\n    """'
    file = tmp_path / "add.py"
    file.write_text(f"def add(a, b):\n    {documented}\n    sum = a + b\n    return sum\n")
    words = ("--doctests", file, "--unasked", "--exec", "--json")
    assert "give --unasked with --direct" in run("eval", *words).stderr
    result = run("eval", *words, "--direct")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert [system["name"] for system in told["systems"]] == ["speculative", "unasked"]
    (one,) = told["sets"]
    assert [it["whole"]["pass_at_1"]["value"] for it in one["systems"]] == [1, 1]
    assert (told["settings"]["doctests"], told["settings"]["unasked"]) == ([str(file)], True)


def test_the_bodies_of_a_benchmark_are_a_set(script):
    script(lambda case: case.truth)
    result = run("eval", "--set", "bodies", "--limit", 3, "--exec", "--json")
    assert result.exit_code == 0, result.stderr
    (one,) = json.loads(result.stdout)["sets"]
    assert (one["set"], one["cases"]) == ("humaneval-body", 3)
    assert one["systems"][0]["whole"]["pass_at_1"]["value"] == 1


@pytest.fixture
def kept(tmp_path: Path):
    def keep(name: str, *rows: Row) -> Path:
        path = tmp_path / f"{name}.json"
        write_saved(run_of(*rows), path)
        return path

    return keep


def test_two_runs_are_paired_hole_by_hole(kept):
    first = kept("before", exact("1"), row("2"), row("3"))
    second = kept("after", exact("1"), exact("2"), exact("4"))
    result = run("eval", "--compare", first, second)
    assert result.exit_code == 0, result.stderr
    for words in ("2 holes in common", "before", "after", "+50.0", "0 / 1", "1.000", "noise"):
        assert words in result.stdout, words
    assert "correct on one side only" in result.stdout
    assert "1 holes that only the first side has, 1 that only the second side has" in result.stdout


def test_two_systems_of_one_run_are_paired(kept):
    path = kept("run", row("1", "speculative"), exact("1", "autoregressive"))
    words = ("--compare", path, path, "--system", "speculative", "--system", "autoregressive")
    told = json.loads(run("eval", *words, "--json").stdout)
    assert (told["first"]["system"]["name"], told["second"]["system"]["name"]) == (
        "speculative",
        "autoregressive",
    )
    assert (told["shares"]["exact"]["only_first"], told["shares"]["exact"]["only_second"]) == (0, 1)
    assert told["discordant"][0]["case"] == "1"
