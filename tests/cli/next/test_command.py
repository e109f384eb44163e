"""``intarsia next`` through a real engine that corrects lines by rules."""

import json
from pathlib import Path

import pytest
from command_line import run
from scripted_next_edits import BALANCED, BOLD, SURE, rule

BEFORE = "def area(a, b):\n    return a * b\n\n\nprint(area(1, 2))\nprint(area(3, 4))\n"
AFTER = BEFORE.replace("def area(a, b)", "def size(a, b, *c)")
RULES = [rule("print(area(1", "print(size(1", BOLD), rule("print(area(3", "print(size(3", SURE)]


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    new, old = tmp_path / "sum.py", tmp_path / "old.py"
    new.write_bytes(AFTER.encode())
    old.write_bytes(BEFORE.encode())
    return new, old


def test_json_has_the_edits_best_first_and_counts_from_one(start_engine, texts):
    start_engine(next_edits=RULES)
    new, old = texts
    result = run("next", new, "--before", old, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {
        "edits": [
            {
                "range": {"start": {"line": 6, "column": 1}, "end": {"line": 7, "column": 1}},
                "text": "print(size(3, 4))\n",
                "gain": 12.0,
                "sure": True,
            },
            {
                "range": {"start": {"line": 5, "column": 1}, "end": {"line": 6, "column": 1}},
                "text": "print(size(1, 2))\n",
                "gain": 5.0,
                "sure": False,
            },
        ],
        "reason": None,
    }
    assert result.stdout.count("\n") == 1
    assert new.read_bytes() == AFTER.encode()


def test_uses_of_a_renamed_name_need_no_engine(texts):
    new, old = texts
    new.write_bytes(BEFORE.replace("def area", "def size").encode())
    result = run("next", new, "--before", old, "--level", "sure")
    assert result.exit_code == 0, result.stderr
    assert "+     5 │ print(size(1, 2))" in result.stdout
    assert "+     6 │ print(size(3, 4))" in result.stdout
    assert "sure · a use of what was renamed" in result.stdout


@pytest.mark.parametrize(
    ("level", "lines"), [("sure", [5]), ("balanced", [5, 6]), ("bold", [5, 6])]
)
def test_a_level_leaves_out_what_is_less_sure(start_engine, texts, level: str, lines: list[int]):
    numbers = BOLD if level == "bold" else BALANCED
    first = rule("print(area(1", "print(size(1", {**SURE, "gain": 14.0})
    start_engine(next_edits=[first, rule("print(area(3", "print(size(3", numbers)])
    new, old = texts
    result = run("next", new, "--before", old, "--json", "--level", level)
    assert [it["range"]["start"]["line"] for it in json.loads(result.stdout)["edits"]] == lines


@pytest.mark.parametrize(
    ("old_text", "reason"),
    [
        (AFTER, "nothing has changed"),
        (AFTER.replace("    return", "return"), "only white space has changed"),
        ("", "more than 6 lines have changed"),
        (BEFORE, "every other line fits the edit, or no correction was found"),
    ],
)
def test_no_edit_has_a_reason_and_exit_code_1(start_engine, texts, old_text: str, reason: str):
    start_engine(next_edits=[])
    new, old = texts
    new.write_text(AFTER + "x = 1\n" * 2)
    old.write_text(old_text and old_text + "x = 1\n" * 2)
    result = run("next", new, "--before", old, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"edits": [], "reason": reason}
    shown = run("next", new, "--before", old)
    assert shown.exit_code == 1
    assert f"no next edit: {reason}" in shown.stdout


def test_a_model_that_cannot_is_a_reason(start_engine, texts):
    start_engine()
    new, old = texts
    result = run("next", new, "--before", old, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"edits": [], "reason": "this model cannot find next edits"}


def test_the_old_text_may_come_from_standard_input(start_engine, texts):
    start_engine(next_edits=RULES)
    new, _ = texts
    result = run("next", new, "--before", "-", "--json", stdin=BEFORE)
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)["edits"]) == 2


def test_both_texts_cannot_be_standard_input():
    result = run("next", "-", "--before", "-", stdin="")
    assert result.exit_code == 2
    assert "give a file" in result.stderr
