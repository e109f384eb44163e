"""A run on a corpus: holes that read other files, from the corpus folder to the log."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus_files import corpus_file, functions, training_options

from intarsia.engine.errors import ModelError
from intarsia.training.packed_holes import read_packed
from intarsia_research.corpus.corpus_file import write_files
from intarsia_research.training.run import TrainingOptions, run_training

NAMES = ("alpha", "beta", "gamma", "delta")


def user_of(name: str) -> str:
    """Return a file that needs the function of another one."""
    head = f"from {name} import {name}"
    return f"{head}\n\n\ndef use(first, second):\n    return {name}(first, second)\n"


def read_log(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.fixture
def options(toy: Path, tmp_path: Path) -> TrainingOptions:
    """Train a few steps on packages of two files each."""
    files = []
    for name in sorted(NAMES):
        files.append(corpus_file(functions(name), path=f"{name}.py", package=name))
        files.append(corpus_file(user_of(name), path="user.py", package=name))
    (tmp_path / "corpus").mkdir()
    write_files(tmp_path / "corpus", files)
    return training_options(tmp_path / "corpus", toy, project_share=1.0, window=(40, 20))


@pytest.mark.parametrize(("what", "tokens"), [("tuning", 150), ("adapter", 1_500)])
def test_a_run_reads_other_files_and_is_resumed(
    options: TrainingOptions, tmp_path: Path, what: str, tokens: int
) -> None:
    options = replace(options, what=what, tokens=tokens)  # type: ignore[arg-type]
    out = tmp_path / "run"

    def run(changed: TrainingOptions) -> dict[str, float]:
        return run_training(changed, out, lambda text, share: None)

    figures = run(options)
    packed = read_packed(out / "holes.safetensors")
    assert 0 < sum(bool(packed[at].project) for at in range(len(packed))) < len(packed)
    if what == "tuning":
        assert figures["project_loss"] > 0
        assert figures["project_unread_loss"] > 0
    run(replace(options, tokens=2 * tokens))
    saved = [line for line in read_log(out) if "held_out" in line]
    first, *_, last = [line["step"] for line in saved]
    assert [line["step"] for line in saved] == sorted(line["step"] for line in saved)
    assert (first, len(saved)) == (0, 3)
    assert saved[1]["step"] < last
    for changed in (replace(options, window=(41, 20)), replace(options, rank=5)):
        with pytest.raises(ModelError, match="other settings"):
            run(changed)


def test_holes_of_other_settings_are_not_taken_from_a_run_without_state(
    options: TrainingOptions, tmp_path: Path
) -> None:
    """The user may have stopped it before its first save."""
    out = tmp_path / "run"
    run_training(options, out, lambda text, share: None)
    (out / "state.json").unlink()
    run_training(options, out, lambda text, share: None)
    for changed in (replace(options, project_share=0.0), replace(options, seed=2)):
        (out / "state.json").unlink(missing_ok=True)
        with pytest.raises(ModelError, match="drawn with other settings"):
            run_training(changed, out, lambda text, share: None)


def test_a_wide_window_is_shown_whole(options: TrainingOptions, tmp_path: Path) -> None:
    lines = "".join(f"value_{number} = {number}\n" for number in range(600))
    files = [corpus_file(lines + functions(name), path="a.py", package=name) for name in NAMES]
    write_files(options.corpus, sorted(files, key=lambda file: file.package_name))
    wide = replace(options, window=(1_300, 750), project_share=0.0)
    run_training(wide, tmp_path / "run", lambda text, share: None)
    packed = read_packed(tmp_path / "run" / "holes.safetensors")
    holes = [packed[index] for index in range(len(packed))]
    assert max(len(hole.prefix) for hole in holes) >= 1_300
    assert max(len(hole.suffix) for hole in holes) >= 750
