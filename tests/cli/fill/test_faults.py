"""``intarsia fill`` on bad input and with a bad engine: one line that says what and what to do."""

import json
import os
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "file.py"
    path.write_text("x = \ny = 1\n")
    return path


def check(code: ExitCode, says: str, *words: str | Path) -> None:
    """The fault is one line on standard error, and one object on standard output with --json."""
    plain = run("fill", *words)
    assert plain.exit_code == code, plain.stderr
    assert plain.stderr.startswith("intarsia: ")
    assert plain.stderr.count("\n") == 1
    assert says in plain.stderr
    assert "Traceback" not in plain.stderr
    report = json.loads(run("fill", *words, "--json").stdout)
    assert report["text"] is None
    assert says in report["reason"]


ONE_OF = "give one of --at, --hole, --all-holes, --rewrite and --repair"
OF_ALL_HOLES = "--mark and --once go with --all-holes"
SEE_HELP = "see `intarsia fill --help`"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--at 1:6", "outside the text"),
        ("--rewrite 1:1-99:1", "outside the text"),
        ("--hole 1:1-1:4 --hole 1:3-1:5", "overlap"),
        ("--hole 1:1-2:3 --hole 2:1-2:2", "overlap"),
        ("--hole 1:2-1:2 --hole 1:2-1:2", "overlap"),
        ("--at here", "is not a position: write LINE:COL"),
        ("--rewrite here", "is not a range"),
        ("", ONE_OF),
        ("--at 1:1 --hole 1:1-1:2", ONE_OF),
        ("--at 1:1 --all-holes", ONE_OF),
        ("--at 1:1 --repair 1", ONE_OF),
        ("--all-holes --rewrite 1:1-1:2", ONE_OF),
        ("--at 1:1 --mark x", OF_ALL_HOLES),
        ("--at 1:1 --once", OF_ALL_HOLES),
        ("--all-holes --noise 0.5", "--noise goes with --rewrite"),
        ("--rewrite 1:1-1:2 --noise 0", "0<x<=1"),
        ("--at 1:1 --instruction x", "--instruction goes with --rewrite"),
        ("--rewrite 1:1-1:2 --noise 1 --instruction x", "without --noise"),
        ("--rewrite 1:1-1:2 --noise 2", "0<x<=1"),
        ("--at 1:5 --max-tokens 0", SEE_HELP),
        ("--at 1:5 --decoding guess", SEE_HELP),
        ("--at 1:5 --temperature -1", SEE_HELP),
        ("--at 1:5 --bogus", SEE_HELP),
        ("--at 1:5 --language klingon", SEE_HELP),
    ],
)
def test_bad_usage(source: Path, words: str, says: str):
    check(ExitCode.BAD_INPUT, says, source, *words.split())


def test_a_read_only_file_with_write(source: Path):
    source.chmod(0o444)
    check(ExitCode.NOT_WRITTEN, "it is read-only", source, "--at", "1:5", "--write")


def test_standard_input_with_write():
    result = run("fill", "-", "--at", "1:1", "--write", stdin="x")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "cannot be written back" in result.stderr


def test_a_file_beyond_all_measure(tmp_path: Path):
    path = tmp_path / "huge.py"
    path.touch()
    os.truncate(path, 65 * 2**20)
    check(ExitCode.BAD_INPUT, "is too large", path, "--at", "1:1")


@pytest.mark.parametrize(("model", "says"), [("missing", "no model"), ("huge", "memory")])
def test_a_model_that_cannot_be_loaded(start_engine, source: Path, model: str, says: str):
    start_engine()
    check(ExitCode.MODEL, says, source, "--at", "1:5", "--model", f"{model}-model")


def test_an_engine_that_dies_in_mid_request(start_engine, source: Path):
    start_engine(text="!crash")
    result = run("fill", source, "--at", "1:5")
    assert result.exit_code == ExitCode.ENGINE
    assert result.stderr.startswith("intarsia: ")
    assert result.stderr.count("\n") == 1
    assert "try again" in result.stderr


def test_an_engine_that_cannot_start(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("INTARSIA_RUNTIME_DIR", str(blocked))
    check(ExitCode.ENGINE, "INTARSIA_RUNTIME_DIR", source, "--at", "1:5")
    assert source.read_text() == "x = \ny = 1\n"


def test_debug_adds_the_traceback_to_the_line(tmp_path: Path):
    result = run("fill", tmp_path / "none.py", "--at", "1:1", "--debug")
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("intarsia: cannot read")


@pytest.mark.skipif(os.name == "nt", reason="such names are not possible there")
def test_a_file_name_reaches_no_terminal_as_an_escape(tmp_path: Path):
    path = tmp_path / "ev\x1b]0;own\x07\u202eil.py"
    missing = run("fill", str(path), "--at", "1:1")
    assert missing.exit_code == ExitCode.BAD_INPUT
    assert "ev␛]0;own␇�il.py" in missing.stderr
    assert "\x1b" not in missing.stderr
