"""The drafter: a training pass drafts what a fill drafts, and what is learnt is in the file."""

import json
import random
import sys
from pathlib import Path

import click
import pytest
import torch
import torch.nn.functional as F
from toy_causal import KINDS, save_toy, toy_causal_model, toy_context
from toy_training import toy_parts, toy_tuning_task, train_toy

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.drafter import read_drafter
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.masked_causal.passes import SpeculativePasses
from intarsia_research.training import queue
from intarsia_research.training.drafter_task import DrafterTask, DrafterTaskOptions, spread_taps
from intarsia_research.training.queue import Entry, is_done, run

OPTIONS = DrafterTaskOptions(
    seed=0, num_rows=4, num_blocks=12, max_prefix=24, max_suffix=12, max_middle=24
)


def toy_drafter_task(folder, holes, options=OPTIONS, *, tuning=None) -> DrafterTask:
    """Return the task of a drafter of all tokens, on a tuned backbone where a tuning is named."""
    backbone, fim, vocabulary = toy_parts(folder, holes)
    if tuning is not None:
        backbone.weights = tune(backbone.weights, backbone.shape, tuning)
    drafted = torch.arange(backbone.shape.vocab_size)
    return DrafterTask(backbone, fim, vocabulary, drafted, options)


def randomized(task: DrafterTask) -> DrafterTask:
    """Change every weight, so that each has an effect."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for number in task.module.parameters():
            number.add_(torch.randn(number.shape, generator=generator) * 0.1)
    return task


def test_a_drafter_learns_what_the_backbone_writes(toy, holes, tmp_path):
    tuning = toy_tuning_task(toy, holes)  # what random numbers predict cannot be learnt
    train_toy(tuning, holes, tmp_path / "tuning", tokens=6_000, peak_rate=1e-2)
    path = tmp_path / "tuning" / "weights.safetensors"
    task = toy_drafter_task(toy, holes, tuning=path)
    figures = train_toy(task, holes, tmp_path, tokens=16_000, peak_rate=3e-3)
    first = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])["held_out"]
    assert figures["loss"] < 0.5 * first["loss"]
    assert first["kept"] < 1 < 2 < figures["kept"]


@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_a_block_drafts_the_same_in_training_and_in_a_fill(kind, holes, tmp_path):
    folder = save_toy(tmp_path / "toy", toy_causal_model(kind))
    task, path = randomized(toy_drafter_task(folder, holes)), tmp_path / "drafter.safetensors"
    task.save(path, metadata={})
    backbone = task._backbone
    drafter = read_drafter(path, backbone.shape, torch.tensor)
    blocks = task._draw([holes[0], holes[1]], random.Random(3))
    own = blocks.starts[..., None] + torch.arange(OPTIONS.num_rows)
    states: list[torch.Tensor] = []
    last = backbone.forward_tuned(blocks.ids, [None] * backbone.shape.num_layers, states=states)
    taps = torch.stack([states[tap - 1] for tap in drafter.taps], dim=-2)
    hidden = task._run(drafter, taps, last, blocks, own)
    output = backbone.weights.output
    for hole, block in torch.nonzero(blocks.ends).tolist():
        start = int(blocks.starts[hole, block])
        *context, newest = blocks.ids[hole, : start + 1].tolist()
        filling = toy_context(folder, path)
        filling.prefill(context)
        drafted = SpeculativePasses(filling).draft(newest, OPTIONS.num_rows, 0.0)
        assert len(drafted.ids) == OPTIONS.num_rows
        before = newest
        for row, token, confidence in zip(
            hidden[hole, block], drafted.ids, drafted.confidences, strict=True
        ):
            candidates = F.linear(row, output).topk(32).indices
            corrected = drafter.head(row, backbone.weights.embed[before])
            chances = F.linear(corrected, output[candidates]).softmax(-1)
            assert token == int(candidates[chances.argmax()])
            assert confidence == pytest.approx(float(chances.max()), abs=1e-3)
            before = token


def test_the_file_is_read_as_it_was_trained_and_started_from(toy, holes, tmp_path):
    task, path = randomized(toy_drafter_task(toy, holes)), tmp_path / "drafter.safetensors"
    task.save(path, metadata={"kind": "drafter"})
    other = toy_drafter_task(toy, holes)
    other.start_from(path)
    ours, theirs = task.module.named_tensors(), other.module.named_tensors()
    for name, tensor in ours.items():
        torch.testing.assert_close(theirs[name], tensor, atol=2e-2, rtol=1e-2)
    with pytest.raises(ModelError, match="another backbone or rank: masks is"):
        toy_drafter_task(toy, holes, DrafterTaskOptions(seed=0)).start_from(path)


@pytest.mark.parametrize(
    ("num_layers", "taps"), [(2, (1,)), (3, (1, 2)), (24, (3, 12, 21)), (28, (4, 14, 24))]
)
def test_the_layers_that_are_read_are_spread(num_layers: int, taps: tuple[int, ...]) -> None:
    assert spread_taps(num_layers) == taps


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
