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

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.lsp.engine.repository_tuning import key_of
from intarsia_research.corpus.corpus_file import digest_of
from intarsia.training.draw_holes import draw_holes
from intarsia.training.repository_files import RepositoryFiles
from intarsia.training.budget import Budget
from intarsia.training.encode_holes import LAYOUT, encode_holes
from intarsia.training.packed_holes import PackedHoles, pack, read_packed
from intarsia.training.load_backbone import load_backbone
from intarsia.training.progress import ReportProgress
from intarsia.training.repository_options import RepositoryOptions
from intarsia.training.run_folder import RunFolder, RunState
from intarsia.training.train_loop import (
    LoopOptions,
    TrainingPlan,
    TrainingProgress,
    train,
)
from intarsia.training.tuning_task import TuningTask, TuningTaskOptions
from intarsia.training.vocabulary import UsedVocabulary

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
    options: RepositoryOptions, files: RepositoryFiles, on_progress: ReportProgress
) -> TrainedTuning:
    """Train a new tuning, or resume its run. Raises ModelError."""
    folder = RunFolder(_run_path(options, files))
    num_holes = _train(options, files, folder, on_progress)
    gc.collect()  # the engine needs the model's memory next
    state = msgspec.json.decode((folder.path / "state.json").read_bytes(), type=RunState)
    return TrainedTuning(
        path=folder.adapter,
        num_holes=num_holes,
        holes_sha256=_sha256(folder.path / "holes.safetensors"),
        num_steps=state.step,
        seconds=state.spent_s,
    )


def forget_run(root: Path) -> None:
    """Delete the folders of a repository's runs."""
    shutil.rmtree(_runs_path(root), ignore_errors=True)


def _train(
    options: RepositoryOptions,
    files: RepositoryFiles,
    folder: RunFolder,
    on_progress: ReportProgress,
) -> int:
    """Run the training loop; return the number of holes."""
    model = load_backbone(options.model, on_progress)
    holes = _packed_holes(options, files, folder, model.tokenizer, on_progress)
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


def _packed_holes(
    options: RepositoryOptions,
    files: RepositoryFiles,
    folder: RunFolder,
    tokenizer: FimTokenizer,
    on_progress: ReportProgress,
) -> PackedHoles:
    """Draw and encode the holes, or read those of a resumed run."""
    path = folder.path / "holes.safetensors"
    if path.exists():
        return read_packed(path)
    on_progress("drawing holes", None)
    per_file = max(1, min(options.holes_per_file, MAX_HOLES // len(files.training)))
    holes = draw_holes(files.training, seed=options.seed, per_file=per_file)
    return pack(encode_holes(holes, tokenizer, grouped_by="file"), path, metadata={})


def _run_path(options: RepositoryOptions, files: RepositoryFiles) -> Path:
    """Return the run's folder; runs of other files or with other options are deleted."""
    key = f"{version('intarsia')} {LAYOUT} {digest_of(files.training)} {options}"
    name = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    runs = _runs_path(options.root)
    for other in runs.glob("*"):
        if other.name != name:
            shutil.rmtree(other, ignore_errors=True)
    return runs / name


def _runs_path(root: Path) -> Path:
    return cache_folder() / "repository-runs" / key_of(root)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
