"""The benchmark's files as cases: what joins to the right program, what is told of damaged ones."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import HUMANEVAL

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.sets.humaneval import read_humaneval

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


def write(path: Path, *problems: dict[str, str]) -> Path:
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
    cases = read_humaneval(file, limit=None, seed=7)
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
    for case in read_humaneval(file, limit=3, seed=7):
        assert runs(case.filled(case.truth) + (case.test or ""))
        assert not runs(case.filled("") + (case.test or ""))


def runs(program: str) -> bool:
    words = [sys.executable, "-I", "-c", program]
    return subprocess.run(words, capture_output=True, check=False, timeout=60).returncode == 0


def test_the_shuffle_is_seeded():
    first = read_humaneval(SINGLE_LINE, limit=5, seed=7)
    assert first == read_humaneval(SINGLE_LINE, limit=5, seed=7)
    assert first != read_humaneval(SINGLE_LINE, limit=5, seed=8)
    assert first == read_humaneval(SINGLE_LINE, limit=6, seed=7)[:5]


@pytest.mark.parametrize("ending", ["", "\n"])
def test_the_line_end_belongs_to_what_follows(tmp_path: Path, ending: str):
    line = {**PROBLEM, "canonical_solution": PROBLEM["canonical_solution"] + ending}
    (case,) = read_humaneval(write(tmp_path / "one.jsonl", line), limit=None, seed=7)
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
        read_humaneval(path, limit=None, seed=7)
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
        read_humaneval(path, limit=None, seed=7)
