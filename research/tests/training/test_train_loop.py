"""A run learns, can be interrupted, and is the same by its seed; a tuned model fills as taught."""

import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from toy_causal import quiet, save_toy, toy_causal_model, toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill
from toy_causal_tokenizer import toy_tokenizer
from toy_training import toy_batched, toy_holes, toy_lines, toy_parts, train_toy

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.project_text import NO_PROJECT, ProjectIds
from intarsia.engine.service.load_filler import load_filler
from intarsia_research.training.batched_backbone import load_backbone
from intarsia_research.training.packed_holes import HoleIds, PackedHoles, read_packed
from intarsia_research.training.tuning_task import TuningTask, TuningTaskOptions


def numbers(task: object) -> torch.Tensor:
    module = task.module
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def test_an_interrupted_run_ends_like_an_uninterrupted_one(toy, holes, tmp_path):
    straight = toy_tuning_task(toy, holes)
    train_toy(straight, holes, tmp_path / "straight", tokens=3_000)
    broken = toy_tuning_task(toy, holes)
    compute_loss, num_steps = broken.compute_loss, 0

    def learn_and_interrupt(*args: object) -> object:
        nonlocal num_steps
        num_steps += 1
        if num_steps == 4:
            signal.raise_signal(signal.SIGINT)
        return compute_loss(*args)

    broken.compute_loss = learn_and_interrupt
    assert train_toy(broken, holes, tmp_path / "broken", tokens=3_000) == {}
    assert not torch.equal(numbers(broken), numbers(straight))
    again = toy_tuning_task(toy, holes)
    train_toy(again, holes, tmp_path / "broken", tokens=3_000, steps_per_save=7)
    torch.testing.assert_close(numbers(again), numbers(straight), atol=1e-4, rtol=1e-3)


def test_a_run_is_not_resumed_with_other_settings(toy, holes, tmp_path):
    train_toy(toy_tuning_task(toy, holes), holes, tmp_path, tokens=300)
    with pytest.raises(ModelError, match="other settings: name another folder"):
        train_toy(toy_tuning_task(toy, holes), holes, tmp_path, tokens=300, seed=1)


def test_packed_holes_come_back_as_they_were(toy: Path, holes: PackedHoles, tmp_path: Path) -> None:
    path = tmp_path / "holes.safetensors"
    toy_holes(toy, path)
    read = read_packed(path)
    assert len(read) == len(holes)
    assert [read[i] for i in range(len(read))] == [holes[i] for i in range(len(holes))]
    with pytest.raises(IndexError):
        read[len(read)]


def test_a_file_that_holds_no_holes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "holes.safetensors"
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError, match="delete it and train again"):
        read_packed(path)


@pytest.fixture(scope="module")
def tuning(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    holes = toy_holes(toy, folder / "holes.safetensors", num_holes=256)
    train_toy(toy_tuning_task(toy, holes), holes, folder, tokens=12_000, peak_rate=1e-2)
    return folder / "weights.safetensors"


def test_a_tuned_model_fills_the_holes_it_was_taught(toy: Path, tuning: Path) -> None:
    model = f"{toy}+{tuning}"
    tuned = load_filler(EngineConfig(model=model, device="cpu", dtype="float32"), model, quiet)
    plain = toy_filler(toy)
    num_right = num_right_plain = 0
    for prefix, hole, suffix in toy_lines(12, seed=99):
        request = toy_fill(prefix, suffix)
        num_right += run_fill(tuned, request).text == hole
        num_right_plain += run_fill(plain, request).text == hole
    assert num_right_plain == 0
    assert num_right >= 10


def test_given_text_is_shown_and_not_asked_for(toy: Path, holes: PackedHoles) -> None:
    task, fim = toy_tuning_task(toy, holes), toy_text(toy).mark_ids()
    hole = HoleIds(prefix=[20, 21], given=[30, 31], middle=[40, 41], suffix=[50], group=0)
    ids, is_asked = task._lay_out([hole])
    shown = [fim.before_prefix, 20, 21, fim.before_suffix, 50, fim.before_middle, 30, 31]
    assert ids[0].tolist() == [*shown, 40, 41, fim.end]
    assert ids[0, 1:][is_asked[0]].tolist() == [40, 41, fim.end]


def test_a_loss_that_is_no_number_ends_the_run_and_is_not_saved(toy, holes, tmp_path, monkeypatch):
    task = toy_tuning_task(toy, holes)
    plain = task.compute_loss

    def broken(drawn, rng):
        computed = plain(drawn, rng)
        return replace(computed, loss=computed.loss * float("nan"))

    monkeypatch.setattr(task, "compute_loss", broken)
    with pytest.raises(ModelError, match=r"step 0 is no number: .* a lower --rate"):
        train_toy(task, holes, tmp_path, tokens=200)
    saved = load_file(tmp_path / "weights.safetensors")
    assert all(bool(tensor.isfinite().all()) for tensor in saved.values())


def toy_tuning_task(folder, holes, *, rank=8, strength=1.0) -> TuningTask:
    options = TuningTaskOptions(rank=rank, seed=0)
    return TuningTask(*toy_parts(folder, holes), options, strength=strength)


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
