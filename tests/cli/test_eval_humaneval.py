"""``intarsia eval humaneval``: the protocol with an engine that fills by rules, and the model."""

import gzip
import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.eval_problems import read_problems
from intarsia.cli.exit_codes import ExitCode

DATA = Path(__file__).parents[1] / "data" / "human-eval-infilling"
SINGLE_LINE = DATA / "HumanEval-SingleLineInfilling.jsonl.gz"


def problem(name: str, line: str, expected: int) -> dict[str, str]:
    return {
        "task_id": f"Toy/{name}",
        "entry_point": name,
        "prompt": f"def {name}(a, b):\n",
        "suffix": "",
        "canonical_solution": f"    {line}\n",
        "test": f"def check(candidate):\n    assert candidate(6, 3) == {expected}\n",
    }


def write_problems(path: Path, *problems: dict[str, str]) -> Path:
    data = "\n".join(json.dumps(one) for one in problems).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write_problems(
        tmp_path / "toy.jsonl.gz",
        problem("add", "return a + b", 9),
        problem("swap", "return b + a", 9),
        problem("sub", "return a - b", 3),
    )


def test_the_figures_of_every_mode_are_told(start_engine, toy: Path):
    start_engine(text="    return a + b\n    more")
    words = ("--settle", "left_to_right", "--settle", "verified", "--settle", "left_to_right")
    result = run("eval", "humaneval", toy, *words, "--execute", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert [mode["settle"] for mode in told["modes"]] == ["left_to_right", "verified"]
    assert (told["holes"], told["shuffle_seed"], told["file"]) == (3, 7, "toy.jsonl.gz")
    for mode in told["modes"]:
        assert mode["exact"] == pytest.approx(1 / 3)
        assert mode["pass_at_1"] == pytest.approx(2 / 3)
        assert (mode["passes"], mode["tokens"], mode["same_as_first"]) == (12, 12, 3)
        assert mode["denoise_ms"]["p50"] <= mode["denoise_ms"]["p95"]
    assert "code that a model wrote is run on this machine" in result.stderr


def test_no_program_is_run_unless_that_is_asked_for(start_engine, toy: Path, tmp_path: Path):
    trace = tmp_path / "trace"
    start_engine(text=f"    open({str(trace)!r}, 'w')")
    result = run("eval", "humaneval", toy, "--limit", 1)
    assert result.exit_code == 0, result.stderr
    assert "pass@1" not in result.stdout
    assert result.stderr == ""
    assert not trace.exists()


def test_the_table_names_modes_and_method(start_engine, toy: Path):
    start_engine(text="    return a + b")
    words = ("--settle", "left_to_right", "--settle", "entropy", "--execute")
    shown = run("eval", "humaneval", toy, *words).stdout
    for word in ("left_to_right", "entropy", "33.3 %", "66.7 %", "12 (1.00)", "3 of 3", "3 holes"):
        assert word in shown


def test_the_shuffle_is_seeded():
    first = read_problems(SINGLE_LINE, limit=5, seed=7)
    assert first == read_problems(SINGLE_LINE, limit=5, seed=7)
    assert first != read_problems(SINGLE_LINE, limit=5, seed=8)
    assert first == read_problems(SINGLE_LINE, limit=6, seed=7)[:5]
    assert len(read_problems(SINGLE_LINE, limit=5_000, seed=7)) == 1_033


def test_the_true_line_passes():
    from intarsia.cli.eval_execute import Runner

    for one in read_problems(SINGLE_LINE, limit=3, seed=7):
        assert Runner(wrapper=()).passes(one.program(one.truth.rstrip("\n")))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("none.jsonl", b"\n", "holds no problem"),
        ("torn.jsonl.gz", gzip.compress(b"{}")[:-4], "cannot read"),
        ("plain.jsonl.gz", b"{}", "cannot read"),
        ("other.jsonl", b'{"a": 1}', "line 1 of"),
        ("words.jsonl", b"hello", "line 1 of"),
        ("bytes.jsonl", b'{"task_id": "\xff"}', "line 1 of"),
    ],
)
def test_a_file_that_holds_no_problems_is_one_line(
    tmp_path: Path, name: str, data: bytes, said: str
):
    path = tmp_path / name
    path.write_bytes(data)
    result = run("eval", "humaneval", path)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_file_is_one_line(tmp_path: Path):
    result = run("eval", "humaneval", tmp_path / "none.jsonl.gz")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.count("\n") == 1


def test_holes_that_are_no_whole_lines_are_refused():
    result = run("eval", "humaneval", DATA / "HumanEval-RandomSpanInfillingLight.jsonl.gz")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "no whole line" in result.stderr


@pytest.mark.model
def test_verified_writes_what_the_backbone_writes_in_no_more_passes():
    words = ("--limit", 3, "--settle", "left_to_right", "--settle", "verified", "--execute")
    result = run("eval", "humaneval", SINGLE_LINE, *map(str, words), "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    first, verified = told["modes"]
    assert told["model"] == "qwen2.5-coder-0.5b"
    assert told["prefilled_tokens"] > 0
    assert verified["same_as_first"] == 3
    assert verified["passes"] <= first["passes"]
    assert first["exact"] == verified["exact"]
    assert first["pass_at_1"] == verified["pass_at_1"]
