"""The benchmark's files as cases: what joins to the right program, what is told of damaged ones."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import HUMANEVAL

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.run_tests import program_to_run
from intarsia_research.evaluation.sets.problem_file import read_problems

SINGLE_LINE = HUMANEVAL / "HumanEval-SingleLineInfilling.jsonl.gz"
RANDOM_SPAN = HUMANEVAL / "HumanEval-RandomSpanInfillingLight.jsonl.gz"
PROBLEM = {
    "task_id": "SingleLineInfilling/HumanEval/0/L0",
    "entry_point": "add",
    "prompt": "def add(a, b):\n",
    "suffix": "",
    "canonical_solution": "    return a + b",
    "test": "def check(candidate):\n    assert candidate(6, 3) == 9",
}


def write(path: Path, *problems: dict) -> Path:
    path.write_text("\n".join(map(json.dumps, problems)))
    return path


@pytest.mark.parametrize(
    ("file", "name", "kind", "number"),
    [
        (SINGLE_LINE, "humaneval-single-line", "line", 1_033),
        (RANDOM_SPAN, "humaneval-random-span-light", "random_span", 164),
    ],
)
def test_every_problem_joins_to_a_program(file: Path, name: str, kind: str, number: int):
    cases = read_problems(file, limit=None, seed=7)
    assert len({case.id for case in cases}) == len(cases) == number
    assert len({case.group for case in cases}) <= 164
    for case in cases:
        assert (case.set, case.kind, case.language) == (name, kind, "python")
        assert case.id.split("/", 1)[1].startswith(f"{case.group}/")
        assert case.test is not None and case.truth.strip()
        compile(case.filled(case.truth) + case.test, case.id, "exec")
        if kind == "line":
            assert case.prefix.endswith("\n") and case.suffix.startswith("\n")
            assert "\n" not in case.truth


@pytest.mark.parametrize("file", [SINGLE_LINE, RANDOM_SPAN])
def test_the_truth_passes_and_nothing_does_not(file: Path):
    for case in read_problems(file, limit=3, seed=7):
        assert runs(case.filled(case.truth) + (case.test or ""))
        assert not runs(case.filled("") + (case.test or ""))


def runs(program: str, folder: Path | None = None) -> bool:
    words = [sys.executable, "-I", "-c", program]
    done = subprocess.run(words, capture_output=True, check=False, timeout=60, cwd=folder)
    return done.returncode == 0


def test_the_shuffle_is_seeded():
    first = read_problems(SINGLE_LINE, limit=5, seed=7)
    assert first == read_problems(SINGLE_LINE, limit=5, seed=7)
    assert first != read_problems(SINGLE_LINE, limit=5, seed=8)
    assert first == read_problems(SINGLE_LINE, limit=6, seed=7)[:5]


@pytest.mark.parametrize("ending", ["", "\n"])
def test_the_line_end_belongs_to_what_follows(tmp_path: Path, ending: str):
    line = {**PROBLEM, "canonical_solution": PROBLEM["canonical_solution"] + ending}
    (case,) = read_problems(write(tmp_path / "one.jsonl", line), limit=None, seed=7)
    assert (case.truth, case.suffix) == ("    return a + b", "\n")
    assert case.group == "HumanEval/0"
    assert runs(case.filled(case.truth) + (case.test or ""))
    assert not runs(case.filled("    return a - b") + (case.test or ""))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("none.jsonl", b"\n", "has no problems"),
        ("torn.jsonl.gz", gzip.compress(b"{}", mtime=0)[:-4], "cannot read"),
        ("twisted.jsonl.gz", gzip.compress(b"{}" * 99, mtime=0)[:12] + b"\xff" * 20, "cannot read"),
        ("plain.jsonl.gz", b"{}", "cannot read"),
        ("other.jsonl", b'{"a": 1}', "line 1 of"),
        ("words.jsonl", b"hello", "line 1 of"),
        ("bytes.jsonl", b'{"task_id": "\xff"}', "line 1 of"),
    ],
)
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, name: str, data: bytes, said: str):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(EvaluationFault, match=said) as caught:
        read_problems(path, limit=None, seed=7)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_id": "Other/HumanEval/0/L0"}, "none of the sets"),
        ({"task_id": "SingleLineInfilling"}, "none of the sets"),
        ({"canonical_solution": "    a = 1\n    return a\n"}, "not a whole line"),
        ({"prompt": "def add(a, b):"}, "not a whole line"),
    ],
)
def test_a_problem_of_no_known_set_is_told(tmp_path: Path, change: dict[str, str], said: str):
    path = write(tmp_path / "other.jsonl", PROBLEM, {**PROBLEM, **change})
    with pytest.raises(EvaluationFault, match=f"line 2 of .*{said}"):
        read_problems(path, limit=None, seed=7)


TASK = {
    "id": "block_completion_000001",
    "kind": "block",
    "language": "python",
    "prefix": "n, k = map(int, input().split())\r\nif n > k:\r\n    ",
    "suffix": "\r\nelse:\r\n    print('no')\r\n",
    "truth": "print('yes')\r\n    print(n - k)",
    "tests": [
        {"input": "5 3", "output": ["YES\n2", "yes \n2\n"]},
        {"input": "1 1", "output": ["no"]},
    ],
}


def test_a_task_of_safim_is_judged_by_all_its_runs(tmp_path: Path):
    (case,) = read_problems(write(tmp_path / "one.jsonl", TASK), limit=None, seed=7)
    assert (case.set, case.is_range, "\r" in case.filled(case.truth)) == (
        "safim-block",
        True,
        False,
    )
    assert runs(program_to_run(case, case.truth), tmp_path)
    assert not runs(program_to_run(case, "print('yes')\n    print(k - n)"), tmp_path)
    assert not runs(program_to_run(case, "print(broken"), tmp_path)


@pytest.mark.parametrize(
    "program",
    [
        "print(input())",
        "import sys\nsys.stdout.write(sys.stdin.readline())\nsys.exit(3)",
        "print(open(0).read())",
        "import os\nos.write(1, os.read(0, 99))",
        "import sys\nprint(sys.stdin.buffer.read().decode())\ndef f(): return f\nassert f() is f",
    ],
)
def test_a_program_may_read_and_print_in_any_way(tmp_path: Path, program: str):
    task = {**TASK, "prefix": "", "truth": program, "suffix": "\n"}
    tests = [{"input": text, "output": [text]} for text in ("a longer line", "short")]
    (case,) = read_problems(write(tmp_path / "1.jsonl", {**task, "tests": tests}), limit=1, seed=7)
    assert runs(program_to_run(case, program), tmp_path)
    assert not runs(program_to_run(case, f"print('more')\n{program}"), tmp_path)


def test_a_call_in_a_foreign_repository_has_no_program_to_run(tmp_path: Path):
    task = {**TASK, "kind": "api", "language": "cpp", "tests": []}
    (case,) = read_problems(write(tmp_path / "one.jsonl", task), limit=None, seed=7)
    assert (case.set, case.path, case.is_tested) == ("safim-api", "solution.cpp", False)


@pytest.mark.parametrize("change", [{"language": "cobol"}, {"kind": "other"}, {"tests": 1}])
def test_a_task_of_no_known_kind_is_told(tmp_path: Path, change: dict[str, object]):
    path = write(tmp_path / "other.jsonl", TASK, {**TASK, **change})
    with pytest.raises(EvaluationFault, match="line 2 of"):
        read_problems(path, limit=None, seed=7)
