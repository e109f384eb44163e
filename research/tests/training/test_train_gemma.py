"""``train tuning`` with a DiffusionGemma: from a corpus to a tuning that loads."""

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
from intarsia.training.draw_holes import TrainingHole
from intarsia_research.corpus.corpus_file import write_files
from intarsia_research.training.holes.encode_gemma_holes import encode_gemma_holes
from intarsia_research.training.run import TrainingOptions, run_training


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
    tuned = loaded(f"{folder}+{out / 'adapter.safetensors'}")
    assert tuned.info.name == f"{folder.name}+run"


def test_there_is_no_adapter_for_a_diffusion_gemma(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="takes no adapter: train a tuning"):
        run_training(order(tmp_path, folder, "adapter"), tmp_path, lambda stage, share: None)


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
