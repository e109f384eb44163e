"""``intarsia train --repo``: learnt on a toy, measured, kept, shown, removed."""

import json
from pathlib import Path

import click
import pytest
import torch
from command_line import run
from kept_tunings import keep_some
from repository_files import write, write_repository
from toy_causal import save_toy, toy_causal_model

from intarsia.cli.errors import ExitCode
from intarsia.cli.train_repository import is_to_be_kept
from intarsia.lsp.engine.repository_tuning import choose_model, read_kept, tuning_path
from intarsia.lsp.settings import Settings
from intarsia.training.effect import TuningEffect, compared

LEARNING = ("--rate", "1e-2", "--holes-per-file", "8")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # of the engine
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("model") / "toy", toy_causal_model("qwen2"))


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_repository(tmp_path_factory.mktemp("own") / "boxes")


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.slow
def test_a_repository_s_own_code_makes_its_held_out_holes_right(
    toy: Path, boxes: Path, tmp_path: Path
):
    wanted = ("--model", toy, "--tokens", "4000", "--holes", "16")
    result = run("train", "--repo", boxes, *wanted, *LEARNING)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert "82 files to learn from, 14 held out with 16 holes" in result.stderr
    assert "exact: 0 of 16 holes without the tuning, " in result.stdout
    kept = read_kept(boxes)
    assert kept is not None
    path = tuning_path(boxes, kept)
    assert f"kept: {path}" in " ".join(result.stdout.split())
    assert (kept.root, kept.model, kept.is_default_model) == (str(boxes), str(toy), False)
    assert (kept.training_files, kept.held_out_files) == (82, 14)
    assert 82 * 7 < kept.training_holes <= 82 * 8, "a hole of one token is left out"
    assert kept.effect.exact_without == 0
    assert kept.effect.exact_with > 0.1
    assert kept.effect.similarity_with > kept.effect.similarity_without + 0.3
    settings = Settings(repository_tuning=True, model=str(toy))
    assert choose_model(settings, [boxes]).model == f"{toy}+{path}"
    assert not files_below(tmp_path / "cache" / "repository-runs")
    assert {file.suffix for file in files_below(boxes)} == {".py"}


def test_what_is_not_to_be_kept_leaves_nothing(
    toy: Path, boxes: Path, tmp_path: Path, start_engine
):
    start_engine(text="alpha(box)")
    wanted = ("--model", toy, "--tokens", "1", "--holes", "4", "--no-keep")
    result = run("train", "--repo", boxes, *wanted, *LEARNING)
    assert result.exit_code == ExitCode.NOTHING, result.stderr
    assert result.stdout.endswith("not kept\n")
    assert not files_below(tmp_path / "data")
    assert not files_below(tmp_path / "cache" / "repository-runs")


def effect(*, num_better: int, num_worse: int) -> TuningEffect:
    right, wrong = (True, 1.0), (False, 0.5)
    without = [*[wrong] * num_better, *[right] * num_worse, right]
    with_tuning = [*[right] * num_better, *[wrong] * num_worse, right]
    return compared(without, with_tuning)


@pytest.mark.parametrize(
    ("num_better", "num_worse", "wish", "is_kept"),
    [
        (1, 0, None, True),
        (1, 1, None, True),
        (1, 2, None, False),
        (1, 2, True, True),
        (3, 0, False, False),
    ],
)
def test_figures_decide_unless_the_user_does(
    num_better: int, num_worse: int, wish: bool | None, is_kept: bool, capsys
):
    assert is_to_be_kept(effect(num_better=num_better, num_worse=num_worse), wish) is is_kept
    is_told = num_worse > num_better and wish is None
    assert ("--keep to keep it anyway" in capsys.readouterr().err) is is_told


@pytest.mark.parametrize("answer", [True, False])
def test_at_a_terminal_the_user_is_asked_about_a_worse_one(answer: bool, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "confirm", lambda words, *, err: answer)
    assert is_to_be_kept(effect(num_better=0, num_worse=1), None) is answer


def test_what_is_kept_can_be_shown_and_removed(tmp_path: Path):
    weights = write(tmp_path, "weights", b"numbers")
    keep_some(tmp_path / "boxes", weights)
    shown = run("train", "--repo", tmp_path / "boxes", "--show")
    assert json.loads(shown.stdout)["effect"]["exact_with"] == 0.2
    removed = run("train", f"--repo={tmp_path / 'boxes'}", "--remove")
    assert removed.exit_code == ExitCode.OK
    assert not files_below(tmp_path / "data")


@pytest.mark.parametrize("asked", ["--show", "--remove"])
def test_where_nothing_is_kept_that_is_told(tmp_path: Path, asked: str):
    result = run("train", asked, "--repo", tmp_path)
    assert result.exit_code == ExitCode.NOTHING
    assert result.stderr.startswith("no tuning is kept for")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--repo", "/nowhere"), "/nowhere is not a folder"),
        (("--repo", "."), "usable source files"),
        (("--repo", ".", "--model", "a+/b/c.safetensors"), "already has a tuning"),
        (("--repo", ".", "--show", "--remove"), "give --show or --remove, not both"),
        (("--repo",), "option '--repo' requires an argument"),
        (("--repo", ".", "boat"), "unexpected extra argument (boat)"),
    ],
)
def test_a_fault_is_one_line(tmp_path: Path, monkeypatch, words: tuple[str, ...], told: str):
    monkeypatch.chdir(tmp_path)
    result = run("train", *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.startswith("intarsia: ")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
