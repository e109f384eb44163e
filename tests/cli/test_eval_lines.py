"""``intarsia eval lines``: which lines are cut, and how fills of them are judged."""

import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.eval_cut_lines import cut_lines, find_sources
from intarsia.cli.exit_codes import ExitCode

SOURCE = '''"""Words about
the module."""

# a remark
import os


def total(values):
    """Add."""
    x = 1
    # another remark
    return sum(values)  # a remark behind code
'''
CODE = {"import os", "def total(values):", "x = 1", "return sum(values)  # a remark behind code"}


def test_every_line_of_code_is_cut_and_no_other(tmp_path: Path):
    path = tmp_path / "total.py"
    path.write_text(SOURCE)
    assert {line.truth for line in cut_lines([path], limit=99, seed=7)} == CODE


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_line_is_not_in_the_text_any_more(tmp_path: Path, newline: str):
    path = tmp_path / "total.py"
    path.write_bytes(SOURCE.replace("\n", newline).encode())
    for line in cut_lines([path], limit=99, seed=7):
        hole = line.hole
        assert (hole.kind, hole.start) == ("line", hole.end)
        assert line.text[hole.start :].startswith(newline)
        whole = line.text[: hole.start] + line.truth + line.text[hole.start :]
        assert whole == SOURCE.replace("\n", newline)


def test_the_choice_is_seeded_and_files_take_turns(tmp_path: Path):
    for name in "abc":
        (tmp_path / f"{name}.py").write_text(SOURCE)
    files = find_sources([tmp_path])
    lines = cut_lines(files, limit=6, seed=1)
    assert lines == cut_lines(files, limit=6, seed=1)
    assert lines != cut_lines(files, limit=6, seed=2)
    assert [line.path for line in lines[:3]] == [line.path for line in lines[3:]]
    assert len({line.path for line in lines[:3]}) == 3
    assert len({(line.path, line.truth) for line in lines}) == 6


def test_of_folders_tests_packages_and_what_is_no_source_are_left_out(tmp_path: Path):
    kept = ["a.py", "deep/b.ts"]
    left_out = [
        "test/c.py",
        "deep/tests/d.py",
        "site-packages/e.py",
        ".hidden/f.py",
        "node_modules/g.js",
        "notes.txt",
        "large.py",
        "binary.py",
    ]
    for name in [*kept, *left_out]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = value\n" * (30_000 if name == "large.py" else 1))
    (tmp_path / "binary.py").write_bytes(b"\0")
    assert find_sources([tmp_path]) == [tmp_path / name for name in kept]


def test_a_folder_called_test_may_be_named(tmp_path: Path):
    path = tmp_path / "test" / "a.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    assert find_sources([path.parent, path]) == [path]


def test_fills_are_compared_with_what_stood_there(start_engine, tmp_path: Path):
    start_engine(rules=[("first = 1\n", "second = 2")], text="other = 0")
    path = tmp_path / "count.py"
    path.write_text("first = 1\nsecond = 2\nthird = 3\nfourth = 4\n")
    result = run("eval", "lines", path, "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["holes"] == 4
    mode = told["modes"][0]
    assert (mode["settle"], mode["exact"], mode["empty"], mode["failures"]) == (
        "verified",
        0.25,
        0,
        0,
    )
    assert mode["pass_at_1"] is None


def test_what_is_not_suggested_is_empty(start_engine, tmp_path: Path):
    start_engine(text="")
    path = tmp_path / "count.py"
    path.write_text("total += value\nother = 1\n")
    shown = run("eval", "lines", path)
    assert shown.exit_code == 0, shown.stderr
    assert "100.0 %" in shown.stdout
    assert "2 holes" in shown.stdout


def test_no_code_and_no_file_are_one_line(tmp_path: Path):
    (tmp_path / "empty.py").write_text("# nothing\n")
    for path in (tmp_path, tmp_path / "none.py"):
        result = run("eval", "lines", path)
        assert result.exit_code == ExitCode.BAD_INPUT
        assert result.stderr.count("\n") == 1
