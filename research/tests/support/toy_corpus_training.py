"""Training the gated adapter, and tunings at a strength, at toy size."""

from pathlib import Path

from toy_training import toy_batched, toy_parts

from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.training.packed_holes import PackedHoles
from intarsia.training.tuning_task import TuningTaskOptions
from intarsia_research.training.adapted_backbone import AdaptedBackbone
from intarsia_research.training.canvas_batch import CanvasMix
from intarsia_research.training.canvas_task import CanvasTask, CanvasTaskOptions
from intarsia_research.training.low_rank_task import CorpusTuningTask

MIX = CanvasMix(num_canvases=12, max_prefix=24, max_suffix=12, max_middle=24, length=6)


def toy_adapted(folder: Path) -> AdaptedBackbone:
    """Return the folder's model as the training of an adapter runs it, in float32."""
    return AdaptedBackbone.of(toy_batched(folder))


def toy_canvas_task(
    folder: Path, holes: PackedHoles, *, rank: int = 8, tuning: Path | None = None
) -> CanvasTask:
    """Return the task of a gated adapter, on a tuned backbone where a tuning is named."""
    backbone, *others = toy_parts(folder, holes)
    if tuning is not None:
        backbone.weights = tune(backbone.weights, backbone.shape, tuning)
    options = CanvasTaskOptions(rank=rank, seed=0, mix=MIX)
    return CanvasTask(AdaptedBackbone.of(backbone), *others, options)


def toy_tuning_task(folder: Path, holes: PackedHoles, *, strength: float = 1.0) -> CorpusTuningTask:
    """Return the task of a tuning."""
    options = TuningTaskOptions(rank=8, seed=0)
    return CorpusTuningTask(*toy_parts(folder, holes), options, strength=strength)
