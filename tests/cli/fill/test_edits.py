"""``intarsia fill`` with --all-holes, --rewrite and --repair: what is filled, shown and written."""

import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode

TEXT = "def one():\n    ...\n\n\ndef two():\n    pass  # TODO: the second number\n"
RULES = [("one():\n   ", "return 1"), ("# the second number\n   ", "return 2")]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.py"
    path.write_text(TEXT)
    return path


def test_all_holes_are_filled_and_written(start_engine, source: Path):
    start_engine(rules=RULES)
    result = run("fill", source, "--all-holes", "--write")
    assert result.exit_code == 0, result.stderr
    assert source.read_text() == (
        "def one():\n    return 1\n\n\ndef two():\n    # TODO: the second number\n    return 2\n"
    )
    assert f"{source}:2:5" in result.stdout
    assert "-     2 │     ...\n+     2 │     return 1" in result.stdout
    assert "-     6 │     pass  # TODO: the second number" in result.stdout
    assert "+     7 │     return 2" in result.stdout


def test_every_hole_is_one_object_whose_text_replaces_its_range(start_engine, source: Path):
    start_engine(rules=RULES)
    result = run("fill", source, "--all-holes", "--json")
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert (first["text"], first["kind"], first["reason"]) == ("return 1", "block", None)
    assert second["text"] == "# TODO: the second number\n    return 2"
    assert second["range"] == {
        "start": {"line": 6, "column": 5},
        "end": {"line": 6, "column": 36},
    }


def test_marks_of_ones_own_are_holes_too(start_engine, tmp_path: Path):
    start_engine(rules=[("Dear", "all"), ("Yours,\n", "me")])
    path = tmp_path / "letter.txt"
    path.write_text("Dear @@!\n\nYours,\n<me>\n")
    result = run("fill", path, "--all-holes", "--mark", "@@", "--mark", "<me>", "--write")
    assert result.exit_code == 0, result.stdout
    assert path.read_text() == "Dear all!\n\nYours,\nme\n"


@pytest.mark.parametrize(("words", "num_fills"), [((), 3), (("--once",), 2)])
def test_the_second_sweep_can_be_left_out(start_engine, source: Path, words, num_fills):
    start_engine(rules=RULES)
    run("fill", source, "--all-holes", *words)
    assert json.loads(run("status", "--json").stdout)["num_fills"] == num_fills


def test_a_file_without_holes_says_what_would_be_one(tmp_path: Path):
    path = tmp_path / "done.py"
    path.write_text("x = 1\n")
    result = run("fill", path, "--all-holes", "--json")
    assert result.exit_code == ExitCode.NOTHING
    assert "has nothing to fill" in json.loads(result.stdout)["reason"]
    assert "--mark" in result.stderr


def test_a_range_is_rewritten_with_noise_and_seed(start_engine, source: Path):
    start_engine()
    words = ("fill", source, "--rewrite", "1:5-1:8", "--json")
    assert json.loads(run(*words, "--noise", 1).stdout)["text"] == "ONE"
    source.write_text("one, two = 3, 4\n")
    words = ("fill", source, "--rewrite", "1:1-1:16", "--json")
    assert json.loads(run(*words).stdout)["text"] == "ONE, TWO = 3, 4"
    report = json.loads(run(*words, "--noise", 0.25, "--seed", 1).stdout)
    assert report["text"] == "one, TWO = 3, 4"


BROKEN = "def f(a, b:\n    return a\n"
WHOLE = "def f(a, b):\n    return a\n"


@pytest.fixture
def broken_source(tmp_path: Path) -> Path:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    return path


def test_the_repair_is_shown_and_written(start_engine, broken_source: Path):
    start_engine(likely=["def f(a, b):"], text="a")
    result = run("fill", broken_source, "--repair", "1", "--write")
    assert result.exit_code == 0, result.stderr
    assert broken_source.read_text() == WHOLE
    assert "+     1 │ def f(a, b):" in result.stdout
    assert 'insert ")" · likelier by 10.0 nats' in result.stdout
