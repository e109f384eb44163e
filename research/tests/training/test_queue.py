"""The queue of trainings: it resumes the first run that is not done, and tells how far each is."""

import json
import sys
from pathlib import Path

import click
import pytest

from intarsia_research.training import queue
from intarsia_research.training.queue import Entry, is_done, read_list, row, run

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


def test_the_list_has_runs_of_different_names() -> None:
    names = [entry.name for entry in read_list()]
    assert names and len(names) == len(set(names))


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


def test_a_row_has_hours_tokens_and_the_first_and_the_last_loss(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    lines = [
        {"step": 0, "tokens": 0, "seconds": 0, "held_out": {"loss": 0.9}},
        {"step": 100, "tokens": 14_500, "seconds": 5400, "held_out": {"loss": 0.8512}},
        {"step": 110, "tokens": 16_000, "seconds": 7200, "loss": 0.7},
    ]
    (tmp_path / "one/log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert row(ENTRY, tmp_path) == "| one | 2.0 | 16,000 | 0.900 | 0.851 |"


def test_a_row_of_a_run_that_has_not_begun(tmp_path: Path) -> None:
    assert row(ENTRY, tmp_path) == "| one | not begun | | | |"
