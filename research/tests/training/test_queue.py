"""The queue of trainings: it resumes the first run that is not done, and tells how far each is."""

import sys
from pathlib import Path

import click
import pytest

from intarsia_research.training import queue
from intarsia_research.training.queue import Entry, is_done, run

ENTRY = Entry("one", "tuning", ["--start", "{folder}/weights"])

# Writes the words that it was started with, and ends with the status that a file names.
TRAINING = (
    "import pathlib, sys; status = pathlib.Path('status').read_text();"
    "pathlib.Path('begun').open('a').write('x'); sys.exit(int(status))"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A queue's folder, where a run is a small program in it."""
    (tmp_path / "one").mkdir()
    monkeypatch.setattr(queue, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(queue, "command", lambda *_: [sys.executable, "-c", TRAINING])
    return tmp_path


def test_a_command_names_the_folder_of_the_queue() -> None:
    words = queue.command(ENTRY, Path("/queue"))
    assert words[-2:] == ["--start", "/queue/weights"]
    assert words[words.index("--out") + 1] == "/queue/one"


def test_a_run_that_ends_well_is_done(folder: Path) -> None:
    (folder / "status").write_text("0")
    assert run(ENTRY, folder)
    assert is_done(ENTRY, folder)


def test_a_run_that_fails_is_told_and_begun_again(folder: Path) -> None:
    (folder / "status").write_text("3")
    with pytest.raises(click.ClickException, match=r"one ended with 3: see .*one\.log"):
        run(ENTRY, folder)
    assert not is_done(ENTRY, folder)
    (folder / "status").write_text("0")
    assert run(ENTRY, folder)
    assert (folder / "begun").read_text() == "xx"
