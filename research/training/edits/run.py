"""Runs one training of an edit adapter on sets of edits: draw, encode and pack examples, train."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from intarsia.engine.cache.digest import sha256_of
from intarsia_research.edits.edit_set import read_edit_set
from intarsia_research.training.budget import Budget
from intarsia_research.training.curves import draw_curves
from intarsia_research.training.edits.draw import EditDraw, draw_edits
from intarsia_research.training.edits.task import EditTask
from intarsia_research.training.holes.packed_holes import PackedHoles, pack, read_packed
from intarsia_research.training.load_backbone import TrainingBackbone, load_backbone
from intarsia_research.training.progress import ReportProgress
from intarsia_research.training.run_folder import RunFolder
from intarsia_research.training.train_loop import (
    LoopOptions,
    TrainingPlan,
    TrainingProgress,
    train,
)
from intarsia_research.training.vocabulary import UsedVocabulary


@dataclass(frozen=True, kw_only=True, slots=True)
class EditTrainingOptions:
    """What to train on, and for how long: until the minutes or the answers' tokens are spent.

    ``rank``: that of the edit adapter and that of the drafting one share 64 in int8.
    """

    sets: Sequence[Path]
    model: str
    start: Path | None
    minutes: float | None
    tokens: int | None
    rank: int
    rate: float
    examples_per_pass: int
    passes_per_step: int
    seed: int


def run_edit_training(
    options: EditTrainingOptions, out: Path, on_progress: ReportProgress
) -> dict[str, float]:
    """Train, and return the figures on held-out repositories.

    Raises ModelError, and EvaluationFault for a set that cannot be read.
    """
    model = load_backbone(options.model, on_progress)
    folder = RunFolder(out)
    examples = _packed(options, folder, model, on_progress)
    fim = model.tokenizer.mark_ids()
    used = torch.cat([examples.used_ids(), torch.tensor([fim.end])])
    task = EditTask(
        model.backbone,
        fim,
        UsedVocabulary(model.backbone, used),
        rank=options.rank,
        seed=options.seed,
    )
    if options.start is not None:
        task.start_from(options.start)

    def report(progress: TrainingProgress) -> None:
        text = f"step {progress.step}, {progress.num_tokens:,} tokens, loss {progress.loss:.3f}"
        on_progress(text, min(1.0, progress.share_done))

    figures = train(task, examples, folder, _plan(options, model.name), on_step=report)
    draw_curves(folder.log, out / "curves.svg")
    return figures


def _packed(
    options: EditTrainingOptions,
    folder: RunFolder,
    model: TrainingBackbone,
    on_progress: ReportProgress,
) -> PackedHoles:
    """Draw and encode examples, or read those of a resumed run.

    Raises ModelError if those were drawn with other settings.
    """
    draw = EditDraw(seed=options.seed)
    path = folder.path / "edits.safetensors"
    metadata = {
        "sets": " ".join(sha256_of(file)[:12] for file in options.sets),
        "draw": str(draw),
        "model": model.name,
    }
    if path.exists():
        return read_packed(path, metadata=metadata)
    on_progress("drawing examples from edits", None)
    cases = [case for file in options.sets for case in read_edit_set(file)]
    return pack(draw_edits(cases, model.tokenizer, draw), path, metadata=metadata)


def _plan(options: EditTrainingOptions, model: str) -> TrainingPlan:
    return TrainingPlan(
        budget=Budget(minutes=options.minutes, tokens=options.tokens),
        options=LoopOptions(
            seed=options.seed,
            peak_rate=options.rate,
            holes_per_pass=options.examples_per_pass,
            passes_per_step=options.passes_per_step,
            held_out_share=0.04,
            held_out_passes=8,
            steps_per_save=40,
        ),
        settings={
            "what": "edits",
            "model": model,
            "start": options.start and options.start.name,
            "rank": options.rank,
        },
        metadata={"kind": "edits", "backbone": model, "seed": str(options.seed)},
    )
