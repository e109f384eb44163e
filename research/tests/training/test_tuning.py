"""A tuning of a corpus: what is learnt is what is written, at a strength or from a start."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from toy_causal import save_toy, toy_causal_model
from toy_causal_tokenizer import toy_tokenizer
from toy_training import toy_batched, toy_holes, toy_parts, train_toy

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.project_text import NO_PROJECT, ProjectIds
from intarsia_research.training.batched_backbone import load_backbone
from intarsia_research.training.packed_holes import HoleIds, PackedHoles
from intarsia_research.training.tuning_task import TuningTask, TuningTaskOptions


def toy_tuning_task(folder, holes, *, rank=8, strength=1.0) -> TuningTask:
    options = TuningTaskOptions(rank=rank, seed=0)
    return TuningTask(*toy_parts(folder, holes), options, strength=strength)


@pytest.fixture(scope="module")
def tuning(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    holes = toy_holes(toy, folder / "holes.safetensors", num_holes=256)
    train_toy(toy_tuning_task(toy, holes), holes, folder, tokens=3_000, peak_rate=1e-2)
    return folder / "weights.safetensors"


@torch.inference_mode()
def test_weights_with_a_tuning_say_what_the_tuning_said_while_it_was_trained(toy, holes, tuning):
    backbone, task = toy_batched(toy), toy_tuning_task(toy, holes)
    task.start_from(tuning)
    ids = torch.arange(20, 50)[None]
    expected = backbone.forward_tuned(ids, task.module.as_layers(torch.float32))
    backbone.weights = tune(backbone.weights, backbone.shape, tuning)
    found = backbone.forward_tuned(ids, [None] * backbone.shape.num_layers)
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)


def test_a_weaker_tuning_is_between_its_start_and_what_was_learnt(toy, holes, tuning, tmp_path):
    task = toy_tuning_task(toy, holes, strength=0.25)
    task.start_from(tuning)
    with torch.no_grad():
        for tensor in task.module.parameters():
            tensor.add_(1)
    task.save(tmp_path / "weaker.safetensors", metadata={})
    start, weaker = load_file(tuning), load_file(tmp_path / "weaker.safetensors")
    assert start.keys() == weaker.keys()
    for name, tensor in start.items():
        expected = tensor.float() + 0.25
        torch.testing.assert_close(weaker[name].float(), expected, atol=1e-3, rtol=1e-2)


def test_a_run_that_is_done_is_written_at_another_strength(toy, holes, tmp_path):
    def changes(strength: float) -> torch.Tensor:
        task = toy_tuning_task(toy, holes, strength=strength)
        figures = train_toy(task, holes, tmp_path, tokens=200)
        assert figures["loss"] > 0
        return load_file(tmp_path / "weights.safetensors")["B.qkv0"].float()

    whole, half = changes(1.0), changes(0.5)
    assert whole.abs().max() > 0
    torch.testing.assert_close(half, whole / 2, atol=1e-5, rtol=1e-2)


def test_holes_with_code_of_other_files_are_figures_of_their_own(toy: Path, holes: PackedHoles):
    task = toy_tuning_task(toy, holes)
    alone = [holes[index] for index in range(6)]
    project = ProjectIds(before_mark=[*alone[0].prefix, *alone[1].prefix], in_prefix=[1])
    reading = [replace(holes[index], project=project) for index in range(6, 10)]
    unread = [replace(hole, project=NO_PROJECT) for hole in reading]

    def figures(*batches: list[HoleIds]) -> dict[str, float]:
        with torch.no_grad():
            return task.evaluate(batches, random.Random(0))

    mixed = figures([*alone[:2], *reading[:2]], [*alone[2:4], *reading[2:]], alone[4:])
    assert mixed["alone_loss"] == pytest.approx(figures(alone)["loss"], abs=1e-4)
    assert mixed["project_unread_loss"] == pytest.approx(figures(unread)["loss"], abs=1e-4)
    assert mixed["project_loss"] == pytest.approx(figures(reading)["project_loss"], abs=1e-4)
    assert abs(mixed["project_loss"] - mixed["project_unread_loss"]) > 1e-4
    parts = sorted([mixed["alone_loss"], mixed["project_loss"]])
    assert parts[0] <= mixed["loss"] <= parts[1]
    assert not [name for name in figures(alone) if "project" in name]


def numbers(task: object) -> torch.Tensor:
    module = task.module
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def test_a_run_can_start_from_the_weights_of_an_earlier_one(toy, holes, tmp_path):
    first = toy_tuning_task(toy, holes)
    train_toy(first, holes, tmp_path / "first", tokens=400, peak_rate=5e-3)
    second = toy_tuning_task(toy, holes)
    second.start_from(tmp_path / "first" / "weights.safetensors")
    torch.testing.assert_close(numbers(second), numbers(first), atol=1e-2, rtol=1e-2)
    with pytest.raises(ModelError, match="another backbone or rank"):
        toy_tuning_task(toy, holes, rank=4).start_from(tmp_path / "first" / "weights.safetensors")


def test_a_model_whose_prompts_begin_with_the_suffix_is_not_trained(tmp_path: Path) -> None:
    folder = save_toy(tmp_path / "toy", toy_causal_model("llama"))
    marks = ("<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>")  # Seed-Coder's
    toy_tokenizer(marks=marks).save(str(folder / "tokenizer.json"))
    with pytest.raises(ModelError, match="its prompts begin with the suffix"):
        load_backbone(str(folder), lambda stage, share: None)
