"""Trains a tuning on a user's repository: its files, to training holes, to a weight file.

An interrupted run is resumed if the files and the options are the same.
"""

import gc
import hashlib
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec
import torch

from intarsia.training.batched_backbone import ReportProgress, UsedVocabulary, load_backbone
from intarsia.training.draw_holes import draw_holes
from intarsia.training.encode_holes import LAYOUT, encode_holes
from intarsia.training.packed_holes import pack, read_packed
from intarsia.training.repository_files import RepositoryFiles, RepositoryOptions
from intarsia.training.run_folder import RunFolder, RunState
from intarsia.training.train_loop import (
    Budget,
    LoopOptions,
    TrainingPlan,
    TrainingProgress,
    train,
)
from intarsia.training.tuning_task import TuningTask, TuningTaskOptions

MAX_HOLES = 24_000
"""More holes than an hour of training reaches: larger repositories draw fewer holes a file."""

_COMMON_TOKENS = 32_768
"""The tokenizer's first tokens are always predictable, so that the tuning also unlearns those that
the repository never uses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainedTuning:
    """A finished run. ``path`` is the weight file in the run's folder."""

    path: Path
    num_holes: int
    holes_sha256: str
    num_steps: int
    seconds: float


def train_on(
    options: RepositoryOptions, files: RepositoryFiles, runs: Path, on_progress: ReportProgress
) -> TrainedTuning:
    """Train a new tuning, or resume its run. Raises ModelError.

    ``runs`` is the folder of the repository's runs; runs of other files or with other options are
    deleted.
    """
    folder = RunFolder(_run_path(options, files, runs))
    num_holes = _train(options, files, folder, on_progress)
    gc.collect()  # the engine needs the model's memory next
    state = msgspec.json.decode((folder.path / "state.json").read_bytes(), type=RunState)
    return TrainedTuning(
        path=folder.adapter,
        num_holes=num_holes,
        holes_sha256=hashlib.sha256(folder.holes.read_bytes()).hexdigest(),
        num_steps=state.step,
        seconds=state.spent_s,
    )


def _train(
    options: RepositoryOptions,
    files: RepositoryFiles,
    folder: RunFolder,
    on_progress: ReportProgress,
) -> int:
    """Run the training loop; return the number of holes."""
    model = load_backbone(options.model, on_progress)
    if folder.holes.exists():  # of an interrupted run
        holes = read_packed(folder.holes)
    else:
        on_progress("drawing holes", None)
        per_file = max(1, min(options.holes_per_file, MAX_HOLES // len(files.training)))
        drawn = draw_holes(files.training, seed=options.seed, per_file=per_file)
        encoded = encode_holes(drawn, model.tokenizer, grouped_by="file")
        holes = pack(encoded, folder.holes, metadata={})
    fim = model.tokenizer.mark_ids()
    common = torch.arange(min(_COMMON_TOKENS, model.backbone.shape.vocab_size))
    used = torch.cat([holes.used_ids(), torch.tensor([fim.end]), common])
    vocabulary = UsedVocabulary(model.backbone, used)
    task_options = TuningTaskOptions(rank=options.rank, seed=options.seed)

    def report(progress: TrainingProgress) -> None:
        text = f"learning {options.root.name}: step {progress.step}, loss {progress.loss:.3f}"
        on_progress(text, min(1.0, progress.share_done))

    train(
        TuningTask(model.backbone, fim, vocabulary, task_options),
        holes,
        folder,
        _plan(options, model.name),
        on_step=report,
    )
    return len(holes)


def _plan(options: RepositoryOptions, model: str) -> TrainingPlan:
    return TrainingPlan(
        budget=Budget(minutes=options.minutes, tokens=options.tokens),
        options=LoopOptions(
            seed=options.seed, peak_rate=options.rate, holes_per_pass=options.holes_per_pass
        ),
        settings={"what": "repository tuning", "model": model, "rank": options.rank},
        metadata={"kind": "tuning", "backbone": model, "seed": str(options.seed)},
    )


def _run_path(options: RepositoryOptions, files: RepositoryFiles, runs: Path) -> Path:
    texts = "\n".join(f"{file.path} {file.sha256}" for file in files.training)
    key = f"{version('intarsia')} {LAYOUT} {options}\n{texts}"
    name = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    for other in runs.glob("*"):
        if other.name != name:
            shutil.rmtree(other, ignore_errors=True)
    return runs / name
