"""``intarsia fill --repair``: a small edit that parses and is likelier, shown or written."""

import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode

BROKEN = "def f(a, b:\n    return a\n"
WHOLE = "def f(a, b):\n    return a\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    return path


def test_the_repair_is_shown_and_written(start_engine, source: Path):
    start_engine(likely=["def f(a, b):"], text="a")
    result = run("fill", source, "--repair", "1", "--write")
    assert result.exit_code == 0, result.stderr
    assert source.read_text() == WHOLE
    assert "+     1 │ def f(a, b):" in result.stdout
    assert 'insert ")" · likelier by 10.0 nats' in result.stdout


def test_the_report_replaces_a_range(start_engine, source: Path):
    start_engine(likely=["def f(a, b):"], text="a")
    result = run("fill", source, "--repair", "2:5", "--json")
    report = json.loads(result.stdout)
    assert (report["text"], report["kind"], report["reason"]) == (")", "repair", None)
    position = {"line": 1, "column": 11}
    assert report["range"] == {"start": position, "end": position}
    assert source.read_text() == BROKEN


def test_without_a_repair_the_file_stays_and_the_reason_is_shown(start_engine, source: Path):
    start_engine(likely=["never written"], text="a")
    result = run("fill", source, "--repair", "1", "--write")
    assert result.exit_code == ExitCode.NOTHING
    assert "no repair: no edit that parses is likelier" in result.stdout
    assert source.read_text() == BROKEN


def test_it_goes_with_no_other_place(source: Path):
    result = run("fill", source, "--repair", "1", "--at", "1:1")
    assert result.exit_code == 2
    assert "give one of --at, --hole, --all-holes, --rewrite and --repair" in result.stderr
