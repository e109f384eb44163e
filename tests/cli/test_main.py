"""The program: its first lines, the table of commands, help, shared options, what is shown."""

import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.command_table import COMMANDS
from intarsia.cli.errors import ExitCode
from intarsia.cli.main import leave_out_working_folder
from intarsia.engine.ipc.printable import displayable

PROGRAM = str(Path(sys.executable).with_name("intarsia"))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with files that are named like modules, and write down that they were run."""
    code = f"import os; open({str(tmp_path / 'was_run')!r}, 'a').write(__name__); os._exit(99)\n"
    for name in ("click", "msgspec", "json", "traceback", "torch", "psutil", "lsprotocol"):
        (tmp_path / f"{name}.py").write_text(code)
    return tmp_path


@pytest.mark.parametrize("path", ["", ":", ":/nonexistent", "/nonexistent:", ".:/nonexistent"])
@pytest.mark.parametrize("words", [("--version",), ("serve",)])
def test_nothing_of_the_working_folder_is_imported(hostile, path, words):
    done = subprocess.run(
        [PROGRAM, *words],
        cwd=hostile,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert not (hostile / "was_run").exists()
    assert done.returncode in (0, 1), done.stderr  # serve: its client has gone


def test_a_process_that_we_start_does_not_search_there_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "lib", str(tmp_path), "/elsewhere"]))
    leave_out_working_folder()
    assert os.environ["PYTHONPATH"] == "/elsewhere"
    assert not {"", str(tmp_path)} & set(sys.path)


def test_in_the_folder_of_its_own_packages_it_still_finds_them(monkeypatch):
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    monkeypatch.chdir(packages)
    before = list(sys.path)
    leave_out_working_folder()
    assert packages in sys.path
    assert sys.path == [path for path in before if path]


def test_in_a_folder_that_was_deleted_it_starts_all_the_same(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    leave_out_working_folder()
    assert "" not in sys.path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_found_and_has_help(name: str):
    result = run(name, "--help")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"Usage: intarsia {name} ")
    assert "--debug" in result.stdout
    assert not re.search(r"\w\.\.\.$", result.stdout, re.M), "summaries of its commands are whole"


COMPLETES = {"_INTARSIA_COMPLETE": "bash_complete", "COMP_WORDS": "intarsia re", "COMP_CWORD": "1"}


@pytest.mark.parametrize(
    ("variables", "shown"),
    [({}, "Fill holes in a file."), (COMPLETES, "plain,remote\nplain,report")],
)
def test_neither_the_help_nor_a_completed_name_imports_a_command(variables, shown):
    program = (
        "import sys; from intarsia.cli.command_table import cli, COMMANDS\n"
        "from contextlib import suppress\n"
        "with suppress(SystemExit): cli.main(['--help'])\n"
        "sys.exit(any(row.module in sys.modules for row in COMMANDS.values()))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables)
    assert shown in done.stdout
    assert done.returncode == 0


def test_without_a_command_the_help_is_shown_and_a_mistyped_one_is_one_line():
    result = run()
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "\n  fill     Fill holes in a file.\n" in result.stderr
    result = run("statsu")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.startswith("intarsia: no such command 'statsu'")
    assert "did you mean 'status'?" in result.stderr and result.stderr.count("\n") == 1


def test_no_command_imports_torch_or_a_http_server_before_it_runs():
    program = (
        "import sys; from importlib import import_module\n"
        "from intarsia.cli.command_table import COMMANDS\n"
        "for row in COMMANDS.values():\n"
        "    import_module(row.module)\n"
        "    large = {'torch', 'transformers', 'uvicorn', 'starlette'}\n"
        "    assert not large & sys.modules.keys(), row.module"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_of_all_characters_only_those_that_are_seen_reach_a_terminal() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    shown = {unicodedata.category(character) for character in displayable(every)}
    assert shown & {"Cf", "Co", "Cs"} == set()
    assert {it for it in displayable(every) if unicodedata.category(it) == "Cc"} == {"\n"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ß日😀", "plain ß日😀"),
        ("a\tb\r\nc\rd", "a    b\nc\nd"),
        ("ev\x1b]0;own\x07il", "ev␛]0;own␇il"),
        ("\x9b31m\x7f", "�31m␡"),
        ("a\u202eb\u200bc\ufeffd\u2060e\U000e0041f\ue000g\ud83dh", "a�b�c�d�e�f�g�h"),
    ],
)
def test_what_is_not_seen_is_shown_as_a_sign(text: str, shown: str) -> None:
    assert displayable(text) == shown
