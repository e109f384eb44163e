"""Runs on a corpus, of both families, and the queue of runs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus_files import corpus_file, functions, training_options
from tiny_diffusion_gemma import save_tiny_checkpoint

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.load import load_gemma
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.load_filler import load_filler
from intarsia_research.corpus.corpus_file import write_files
from intarsia_research.training.draw_holes import TrainingHole
from intarsia_research.training.holes.encode_gemma_holes import encode_gemma_holes
from intarsia_research.training.packed_holes import read_packed
from intarsia_research.training.run import TrainingOptions, run_training

NAMES = ("alpha", "beta", "gamma", "delta")


@pytest.fixture
def options(toy: Path, tmp_path: Path) -> TrainingOptions:
    """Train a few steps on packages of two files each."""
    files = []
    for name in sorted(NAMES):
        files.append(corpus_file(functions(name), path=f"{name}.py", package=name))
        use = f"def use(first, second):\n    return {name}(first, second)\n"
        user = f"from {name} import {name}\n\n\n{use}"  # needs the function of another file
        files.append(corpus_file(user, path="user.py", package=name))
    (tmp_path / "corpus").mkdir()
    write_files(tmp_path / "corpus", files)
    return training_options(tmp_path / "corpus", toy, project_share=1.0, window=(40, 20))


@pytest.mark.parametrize(
    ("what", "tokens"), [("tuning", 150), ("drafter", 1_500), ("uniform", 1_500)]
)
def test_a_run_reads_other_files_and_is_resumed(options, tmp_path, what, tokens):
    options = replace(options, what=what, tokens=tokens)
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
    log = map(json.loads, (out / "log.jsonl").read_text().splitlines())
    saved = [line for line in log if "held_out" in line]
    first, *_, last = [line["step"] for line in saved]
    assert [line["step"] for line in saved] == sorted(line["step"] for line in saved)
    assert (first, len(saved)) == (0, 3)
    assert saved[1]["step"] < last
    for changed in (replace(options, window=(41, 20)), replace(options, rank=5)):
        with pytest.raises(ModelError, match="other settings"):
            run(changed)


def test_holes_of_other_settings_are_not_taken_from_a_run_without_state(options, tmp_path):
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_checkpoint(tmp_path_factory.mktemp("tiny-gemma"))


def order(corpus: Path, model: Path, what: str = "tuning") -> TrainingOptions:
    return training_options(
        corpus, model, what=what, tokens=40, rank=2, rate=None, passes_per_step=1, holes_per_file=4
    )


def loaded(model: str) -> DiffusionGemmaFiller:
    config = EngineConfig(model=model, device="cpu", dtype="float32")
    filler = load_filler(config, model, lambda stage, share: None)
    assert isinstance(filler, DiffusionGemmaFiller)
    return filler


def test_the_family_of_the_model_says_what_is_trained(folder: Path, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "run"
    corpus.mkdir()
    files = [corpus_file(functions(name), package=name) for name in ("sum", "product", "rest")]
    write_files(corpus, files)
    figures = run_training(order(corpus, folder), out, lambda stage, share: None)
    assert {"loss", "loss_at_0.25", "accuracy_at_0.25", "accuracy_at_1.0", "whole"} <= set(figures)
    tuned = loaded(f"{folder}+{out / 'weights.safetensors'}")
    assert tuned.info.name == f"{folder.name}+run"


def test_there_is_no_drafter_for_a_diffusion_gemma(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="takes no drafter: train a tuning"):
        run_training(order(tmp_path, folder, "drafter"), tmp_path, lambda stage, share: None)


@pytest.mark.parametrize("change", [{"project_share": 0.5}, {"window": (250, 100)}])
def test_options_of_causal_models_are_refused(folder: Path, tmp_path: Path, change: dict[str, Any]):
    options = replace(order(tmp_path, folder), **change)
    with pytest.raises(ModelError, match="leave out --project-share and --window"):
        run_training(options, tmp_path, lambda stage, share: None)


@pytest.mark.parametrize("suffix", ["", ")\n", ")\n" + functions("rest")])
def test_holes_are_encoded_as_a_fill_reads_them(folder: Path, suffix: str) -> None:
    filler = loaded(str(folder))
    hole = TrainingHole(
        prefix="def add(first, second):\n    total = su",
        hole="m(first, second",
        suffix=suffix,
        kind="inside_word",
        language="python",
        package="pypi:small",
        path="a.py",
    )
    text = load_gemma(folder, device="cpu", dtype=filler._backbone._model.dtype).text
    sizes = filler._reader._sizes
    (ids,) = encode_gemma_holes([hole], text, max_suffix=sizes.max_suffix, max_middle=64)
    request = Fill(id=1, prefix="def add(first, second):\n    total =", given=" su", suffix=suffix)
    read = filler._reader.read(request)
    num_early = read.num_given_in_context
    assert [*ids.prefix, *ids.given[:num_early]] == read.context
    assert (ids.given, ids.suffix) == (read.given, read.suffix)
    assert "".join(text.pieces(ids.middle, after=ids.given)) == hole.hole


def test_holes_that_are_longer_than_asked_for_are_left_out(folder: Path) -> None:
    text = loaded(str(folder))._text
    long = TrainingHole(
        prefix="x = ",
        hole="1 + " * 40,
        suffix="2\n",
        kind="expression",
        language="python",
        package="pypi:small",
        path="a.py",
    )
    assert not [*encode_gemma_holes([long], text, max_suffix=16, max_middle=64)]
