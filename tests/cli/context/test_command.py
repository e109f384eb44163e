"""``intarsia context``: what is shown, where it is from, what it costs, and plain refusals."""

import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode
from intarsia.cli.project import opened_folder

LIBRARY = "class Door:\n    def open_it(self, angle: float) -> bool:\n        return angle > 0\n"
MAIN = "from library import Door\n\n\ndef enter(door: Door):\n    door.\n\n\nprint(enter(Door()))\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "house"
    (folder / ".git").mkdir(parents=True)
    (folder / "library.py").write_text(LIBRARY)
    (folder / "main.py").write_text(MAIN)
    (folder / ".env").write_text("open_it_secret = 1\n")
    return folder


def test_all_parts_are_shown_with_their_origin_reason_and_cost(folder: Path):
    result = run("context", folder / "main.py", "--at", "5:10")
    assert result.exit_code == 0, result.stderr
    shown = result.stdout[result.stdout.index("── library.py") :]
    heading, reason, _, first, second = shown.split("\n")[:5]
    assert heading.startswith("── library.py (members, about ")
    assert reason == "   members of: Door"
    assert (first, second) == ("class Door:", "    def open_it(self, angle: float) -> bool: ...")
    assert "── main.py: before the hole\n\nfrom library import Door\n" in result.stdout
    assert "print(enter(Door()))" in result.stdout
    assert "at 600 tokens a second (estimated)." in result.stdout
    assert "secret" not in result.stdout


def test_json_has_the_same_in_one_object(folder: Path):
    result = run("context", folder / "main.py", "--at", "5:10", "--json")
    assert result.exit_code == 0, result.stderr
    seen = json.loads(result.stdout)
    assert seen["repository"] == "house"
    assert seen["path"] == "main.py"
    (chunk,) = seen["chunks"]
    assert (chunk["path"], chunk["kind"]) == ("library.py", "members")
    assert chunk["text"].startswith("class Door:")
    assert seen["prefix"] + seen["given"] + seen["suffix"] == MAIN
    assert seen["given"] == "."
    assert seen["project_tokens"] == chunk["tokens"] > 0
    assert seen["is_speed_measured"] is False
    assert seen["seconds"] == pytest.approx(
        (seen["project_tokens"] + seen["window_tokens"]) / seen["tokens_per_s"]
    )


def test_standard_input_belongs_to_no_project(folder: Path):
    result = run("context", "-", "--at", "5:10", "--language", "python", stdin=MAIN)
    assert result.exit_code == 0, result.stderr
    assert "── standard input: before the hole" in result.stdout


def test_a_root_may_be_given_and_must_hold_the_file(folder: Path, tmp_path: Path):
    inside = folder / "inner"
    inside.mkdir()
    (inside / "main.py").write_text(MAIN)
    result = run("context", inside / "main.py", "--at", "5:10", "--root", inside)
    assert "No code that helps here was found in other files." in result.stdout
    result = run("context", folder / "main.py", "--at", "5:10", "--root", inside)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "give a --root that contains it" in result.stderr


def test_a_secret_is_refused(folder: Path):
    result = run("context", folder / ".env", "--at", "1:1")
    assert result.exit_code == ExitCode.NOTHING
    assert "named like a secret" in result.stderr
    assert "open_it_secret" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["main.py"], "missing option '--at'"),
        (["main.py", "--at", "99:1"], "line 99 is outside the text"),
        (["main.py", "--at", "here"], "is not a position"),
        (["none.py", "--at", "1:1"], "there is no such file"),
    ],
)
def test_a_fault_is_one_line(folder: Path, arguments: list[str], message: str):
    result = run("context", folder / arguments[0], *arguments[1:])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_folder_of_a_file_is_its_repository_or_project(tmp_path: Path):
    deep = tmp_path / "repository" / "package" / "source"
    deep.mkdir(parents=True)
    assert opened_folder(deep / "main.py") == deep
    (tmp_path / "repository" / "package" / "package.json").write_text("{}")
    assert opened_folder(deep / "main.py") == tmp_path / "repository" / "package"
    (tmp_path / "repository" / ".git").mkdir()
    assert opened_folder(deep / "main.py") == tmp_path / "repository"
