"""The program's first lines: nothing of the folder that it is started in is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from intarsia.cli.main import leave_out_working_folder

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
def test_nothing_of_the_working_folder_is_imported(
    hostile: Path, path: str, words: tuple[str, ...]
) -> None:
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


def test_a_process_that_we_start_does_not_search_there_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "lib", str(tmp_path), "/elsewhere"]))
    leave_out_working_folder()
    assert os.environ["PYTHONPATH"] == "/elsewhere"
    assert not {"", str(tmp_path)} & set(sys.path)


def test_in_the_folder_of_its_own_packages_it_still_finds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    monkeypatch.chdir(packages)
    before = list(sys.path)
    leave_out_working_folder()
    assert packages in sys.path
    assert sys.path == [path for path in before if path]


def test_in_a_folder_that_was_deleted_it_starts_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    leave_out_working_folder()
    assert "" not in sys.path
