"""``intarsia fill`` on good input, through a real engine that fills by rules.

Then with --all-holes, --rewrite and --repair: what is filled, shown and written.
"""

import json
from pathlib import Path

import pytest
from command_line import run
from rule_filler import CAUTION

from intarsia.cli.errors import ExitCode

KEYS = {
    *("text", "range", "kind", "reason", "model", "finish_reason", "probability", "mean_entropy"),
    *("num_forwards", "num_prefilled", "num_reused", "ms"),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "sum.py"
    path.write_text("def add(a, b):\n    return \n\n\nprint(add(1, 2))\n")
    return path


def test_a_fill_is_shown_before_and_after_and_the_file_is_left_alone(start_engine, source: Path):
    start_engine(text="a + b")
    before = source.read_bytes()
    result = run("fill", source, "--at", "2:12")
    assert result.exit_code == 0, result.stderr
    assert f"{source}:2:12" in result.stdout
    assert "-     2 │     return ░░░" in result.stdout
    assert "+     2 │     return a + b" in result.stdout
    assert "3 forward passes" in result.stdout
    assert " ms " in result.stdout
    assert result.stderr == ""
    assert source.read_bytes() == before


def test_json_has_every_key_and_counts_from_one(start_engine, source: Path):
    start_engine(text="a + b")
    result = run("fill", source, "--at", "2:12", "--json")
    report = json.loads(result.stdout)
    assert report.keys() >= KEYS
    assert report["text"] == "a + b"
    assert report["reason"] is None
    assert report["range"] == {"start": {"line": 2, "column": 12}, "end": {"line": 2, "column": 12}}
    assert report["kind"] == "line"
    assert 0.5 < report["probability"] < 1, "all of its tokens are sure"
    assert report["ms"].keys() == {"queue", "prefill", "denoise", "total"}
    assert result.stdout.count("\n") == 1


def test_write_keeps_byte_order_mark_and_line_ends(start_engine, tmp_path: Path):
    start_engine(text="a +\nb")
    path = tmp_path / "sum.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo \r\nthree\r\n")
    result = run("fill", path, "--hole", "2:5-2:5", "--write")
    assert result.exit_code == 0, result.stderr
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\ntwo a +\r\nb\r\nthree\r\n"


def test_several_holes_are_filled_in_file_order_each_seeing_the_ones_before(start_engine, tmp_path):
    rules = [("x =", "1 + 2"), ("x = 1 + 2\ny =", "x"), ("y = x\nz =", "y")]
    start_engine(rules=rules, text="wrong")
    path = tmp_path / "three.py"
    path.write_text("x = \ny = \nz = 0\n")
    words = ["--hole", "3:5-3:6", "--hole", "1:5-1:5", "--hole", "2:5-2:5"]
    result = run("fill", path, *words, "--json", "--write")
    reports = [json.loads(line) for line in result.stdout.splitlines()]
    assert [report["text"] for report in reports] == ["1 + 2", "x", "y"]
    assert [report["range"]["start"]["line"] for report in reports] == [1, 2, 3]
    assert [report["range"]["start"]["column"] for report in reports] == [5, 5, 5]
    assert path.read_text() == "x = 1 + 2\ny = x\nz = y\n"


def test_all_holes_are_written_or_none(start_engine, tmp_path: Path):
    start_engine(rules=[("x =", "1"), ("y =", "")])
    path = tmp_path / "two.py"
    path.write_text("x = \ny = \n")
    result = run("fill", path, "--hole", "1:5-1:5", "--hole", "2:5-2:5", "--write")
    assert result.exit_code == 1
    assert "no suggestion" in result.stdout
    assert path.read_text() == "x = \ny = \n"


def test_no_suggestion_has_a_reason_and_exit_code_1(start_engine, source: Path):
    start_engine(text="")
    shown = run("fill", source, "--at", "2:12")
    assert shown.exit_code == 1
    assert "no suggestion: the model wrote nothing" in shown.stdout
    reported = run("fill", source, "--at", "2:12", "--json")
    assert reported.exit_code == 1
    report = json.loads(reported.stdout)
    assert report["text"] is None
    assert report["reason"] == "the model wrote nothing"
    assert report["probability"] is None
    assert report.keys() >= KEYS


def test_a_dash_reads_standard_input_in_the_language_that_is_named(start_engine):
    start_engine(text="a + b")
    text = "def add(a, b):\n    return \n"
    result = run("fill", "-", "--language", "python", "--at", "2:12", "--json", stdin=text)
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["file"], report["text"]) == ("standard input", "a + b")


def test_the_options_reach_the_engine(start_engine, source: Path):
    start_engine(text="a + b + a + b")
    limited = json.loads(run("fill", source, "--at", "2:12", "--max-tokens", 3, "--json").stdout)
    assert limited["finish_reason"] == "max_tokens"
    stopped = json.loads(run("fill", source, "--at", "2:12", "--max-steps", 1, "--json").stdout)
    assert (stopped["finish_reason"], stopped["num_forwards"]) == ("max_steps", 1)


def test_write_adds_the_imports_that_the_fill_needs_and_says_so(start_engine, tmp_path: Path):
    start_engine(text="np.zeros(a + b)")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "other.py").write_text("import numpy as np\n\nprint(np)\n")
    path = tmp_path / "sum.py"
    text = "import os\n\n\ndef add(a, b):\n    return \n\n\nprint(os)\n"
    path.write_text(text)
    result = run("fill", path, "--at", "5:12", "--write", "--no-imports")
    assert result.exit_code == 0, result.stderr
    assert path.read_text() == text.replace("return ", "return np.zeros(a + b)")
    path.write_text(text)
    result = run("fill", path, "--at", "5:12", "--write")
    assert result.exit_code == 0, result.stderr
    filled = text.replace("return ", "return np.zeros(a + b)")
    assert path.read_text() == filled.replace("import os\n", "import os\n\nimport numpy as np\n")
    assert result.stderr == f"written to {path}, with import numpy as np\n"


TEXT = "def one():\n    ...\n\n\ndef two():\n    pass  # TODO: the second number\n"
RULES = [("one():\n   ", "return 1"), ("# the second number\n   ", "return 2")]


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.py"
    path.write_text(TEXT)
    return path


def test_all_holes_are_filled_and_written(start_engine, stubs: Path):
    start_engine(rules=RULES)
    result = run("fill", stubs, "--all-holes", "--write")
    assert result.exit_code == 0, result.stderr
    assert stubs.read_text() == (
        "def one():\n    return 1\n\n\ndef two():\n    # TODO: the second number\n    return 2\n"
    )
    assert f"{stubs}:2:5" in result.stdout
    assert "-     2 │     ...\n+     2 │     return 1" in result.stdout
    assert "-     6 │     pass  # TODO: the second number" in result.stdout
    assert "+     7 │     return 2" in result.stdout


def test_every_hole_is_one_object_whose_text_replaces_its_range(start_engine, stubs: Path):
    start_engine(rules=RULES)
    result = run("fill", stubs, "--all-holes", "--json")
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert (first["text"], first["kind"], first["reason"]) == ("return 1", "block", None)
    assert second["text"] == "# TODO: the second number\n    return 2"
    assert second["range"] == {"start": {"line": 6, "column": 5}, "end": {"line": 6, "column": 36}}


def test_marks_of_ones_own_are_holes_too(start_engine, tmp_path: Path):
    start_engine(rules=[("Dear", "all"), ("Yours,\n", "me")])
    path = tmp_path / "letter.txt"
    path.write_text("Dear @@!\n\nYours,\n<me>\n")
    result = run("fill", path, "--all-holes", "--mark", "@@", "--mark", "<me>", "--write")
    assert result.exit_code == 0, result.stdout
    assert path.read_text() == "Dear all!\n\nYours,\nme\n"


@pytest.mark.parametrize(("words", "num_fills"), [((), 3), (("--once",), 2)])
def test_the_second_sweep_can_be_left_out(start_engine, stubs: Path, words, num_fills):
    start_engine(rules=RULES)
    run("fill", stubs, "--all-holes", *words)
    assert json.loads(run("status", "--json").stdout)["num_fills"] == num_fills


def test_a_file_without_holes_says_what_would_be_one(tmp_path: Path):
    path = tmp_path / "done.py"
    path.write_text("x = 1\n")
    result = run("fill", path, "--all-holes", "--json")
    assert result.exit_code == ExitCode.NOTHING
    assert "has nothing to fill" in json.loads(result.stdout)["reason"]
    assert "--mark" in result.stderr


def test_a_range_is_rewritten_with_noise_and_seed(start_engine, stubs: Path):
    start_engine()
    words = ("fill", stubs, "--rewrite", "1:5-1:8", "--json")
    assert json.loads(run(*words, "--noise", 1).stdout)["text"] == "ONE"
    stubs.write_text("one, two = 3, 4\n")
    words = ("fill", stubs, "--rewrite", "1:1-1:16", "--json")
    assert json.loads(run(*words).stdout)["text"] == "ONE, TWO = 3, 4"
    report = json.loads(run(*words, "--noise", 0.25, "--seed", 1).stdout)
    assert report["text"] == "one, TWO = 3, 4"


def test_a_range_is_edited_by_an_instruction(start_engine, stubs: Path):
    start_engine(text="async def f():\n    return 1\n```\nDone.")
    stubs.write_text("def f():\n    return 1\n\n\nprint(f)\n")
    words = ("fill", stubs, "--rewrite", "1:1-2:13", "--instruction", "make it async")
    report = json.loads(run(*words, "--json").stdout)
    assert report["text"] == "async def f():\n    return 1"
    assert report["caution"] == CAUTION
    shown = run(*words, "--write")
    assert "+     1 │ async def f():" in shown.stdout and CAUTION in shown.stdout
    assert stubs.read_text() == "async def f():\n    return 1\n\n\nprint(f)\n"
    unchanged = run(*words)
    assert unchanged.exit_code == ExitCode.NOTHING
    assert "leave the selection as it is" in unchanged.stdout


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
