"""Training at toy size: a tiny backbone, holes of a made-up language, a loop of seconds."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from toy_causal import CPU, toy_text

from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import read_torch_weights
from intarsia.engine.model_store.checkpoint import read_config
from intarsia_research.training.batched_backbone import BatchedBackbone, UsedVocabulary
from intarsia_research.training.packed_holes import HoleIds, PackedHoles, pack
from intarsia_research.training.run_folder import RunFolder
from intarsia_research.training.train_loop import (
    Budget,
    LoopOptions,
    TrainingPlan,
    TrainingTask,
    train,
)
from intarsia_research.training.tuning_task import TuningTask, TuningTaskOptions

_NAMES = ("alpha", "beta", "gamma", "delta")


def toy_batched(folder: Path) -> BatchedBackbone:
    shape = read_shape(read_config(folder))
    weights = read_torch_weights(
        [folder / "model.safetensors"], shape, is_fused=False, dtype=torch.float32, device=CPU
    )
    return BatchedBackbone(shape, weights)


def toy_lines(num_holes: int, *, seed: int = 0) -> list[tuple[str, str, str]]:
    """Return prefix, hole and suffix of lines; the hole follows from both sides."""
    chosen = random.Random(seed)
    holes = []
    for _ in range(num_holes):
        first, last = chosen.choice(_NAMES), chosen.choice(_NAMES)
        holes.append((f"let {first} = ", f"{first}({last})", f"; end {last}\n"))
    return holes


def toy_holes(folder: Path, path: Path, *, num_holes: int = 64) -> PackedHoles:
    """Pack such lines; they come from four sources."""
    text = toy_text(folder)
    ids = (
        HoleIds(
            prefix=text.encode(prefix),
            middle=text.encode(hole),
            suffix=text.encode(suffix),
            group=number % 4,
        )
        for number, (prefix, hole, suffix) in enumerate(toy_lines(num_holes))
    )
    return pack(ids, path, metadata={})


def toy_tuning_task(folder: Path, holes: PackedHoles) -> TuningTask:
    return TuningTask(*toy_parts(folder, holes), TuningTaskOptions(rank=8, seed=0))


def train_toy(
    task: TrainingTask, holes: PackedHoles, folder: Path, *, tokens: int, **options: Any
) -> dict[str, float]:
    """Train this number of places, quietly."""
    loop = LoopOptions(
        **({"held_out_share": 0.25, "held_out_passes": 4, "steps_per_note": 1} | options)
    )
    plan = TrainingPlan(
        budget=Budget(tokens=tokens), options=loop, settings={}, metadata={"kind": "toy"}
    )
    return train(task, holes, RunFolder(folder), plan, on_step=lambda progress: None)


def toy_parts(folder: Path, holes: PackedHoles) -> Sequence[Any]:
    """Return the first arguments of a task: backbone, marks and vocabulary."""
    backbone, fim = toy_batched(folder), toy_text(folder).mark_ids()
    used = torch.cat([holes.used_ids(), torch.tensor([fim.end])])
    return backbone, fim, UsedVocabulary(backbone, used)
