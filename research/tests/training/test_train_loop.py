"""The gated adapter learns, and runs go on from earlier weights."""

import json
from pathlib import Path

import pytest
import torch
from toy_corpus_training import toy_canvas_task, toy_tuning_task
from toy_training import train_toy

from intarsia.engine.errors import ModelError
from intarsia.training.packed_holes import PackedHoles


def numbers(task: object) -> torch.Tensor:
    module = task.module  # type: ignore[attr-defined]
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def test_canvases_learn_to_predict_what_the_backbone_predicts(
    toy: Path, holes: PackedHoles, tmp_path: Path
) -> None:
    tuning = toy_tuning_task(
        toy, holes
    )  # a backbone of random numbers makes predictions that cannot be learnt
    train_toy(tuning, holes, tmp_path / "tuning", tokens=6_000, peak_rate=1e-2)
    path = tmp_path / "tuning" / "adapter.safetensors"
    task = toy_canvas_task(toy, holes, rank=16, tuning=path)
    figures = train_toy(task, holes, tmp_path, tokens=16_000, peak_rate=5e-3)
    first = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])["held_out"]
    assert first["kept"] < 0.5
    assert figures["kept"] > 1.8
    assert figures["loss"] < 0.2 * first["loss"]


def test_a_run_can_start_from_the_weights_of_an_earlier_one(
    toy: Path, holes: PackedHoles, tmp_path: Path
) -> None:
    first = toy_tuning_task(toy, holes)
    train_toy(first, holes, tmp_path / "first", tokens=400, peak_rate=5e-3)
    second = toy_tuning_task(toy, holes)
    second.start_from(tmp_path / "first" / "adapter.safetensors")
    torch.testing.assert_close(numbers(second), numbers(first), atol=1e-2, rtol=1e-2)
    with pytest.raises(ModelError, match="another backbone or rank"):
        toy_canvas_task(toy, holes, rank=4).start_from(tmp_path / "first" / "adapter.safetensors")
