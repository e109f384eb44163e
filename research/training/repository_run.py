"""The training run on a repository: its files → holes → a tuning's file.

A run that was interrupted goes on, as long as the files and the order are the same.
"""

import gc
import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.lsp.engine.repository_tuning import key_of
from intarsia.research.corpus.corpus_file import digest_of
from intarsia.research.corpus.holes import draw_holes
from intarsia.research.corpus.repository import RepositoryFiles
from intarsia.research.training.budget import Budget
from intarsia.research.training.encode_holes import LAYOUT, encode_holes
from intarsia.research.training.load_backbone import load_backbone
from intarsia.research.training.packed_holes import PackedHoles, pack, read_packed
from intarsia.research.training.run_folder import RunFolder, RunState
from intarsia.research.training.train_loop import LoopOptions, Progress, train
from intarsia.research.training.tuning_task import TuningMix, TuningTask
from intarsia.research.training.vocabulary import UsedVocabulary

if TYPE_CHECKING:
    OnProgress = Callable[[str, float | None], None]

MAX_HOLES = 24_000
"""Of many files fewer holes each are drawn: more than an hour's training gets to see."""

_USUAL_TOKENS = 32_768
"""The likeliest tokens can be named, too: what the repository never says is to be unlearnt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryOrder:
    """What to train on, from which model, for how long: minutes, tokens or what comes first."""

    root: Path
    model: str
    minutes: float | None
    tokens: int | None
    rank: int
    rate: float
    holes_per_pass: int
    holes_per_file: int
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainedTuning:
    """What came out. ``path`` is in the run's folder."""

    path: Path
    num_holes: int
    holes_sha256: str
    num_steps: int
    seconds: float


def train_on(
    order: RepositoryOrder, files: RepositoryFiles, on_progress: "OnProgress"
) -> TrainedTuning:
    """Train a tuning that begins as nothing. Raises ModelError."""
    folder = RunFolder(_folder_of(order, files))
    num_holes = _learn(order, files, folder, on_progress)
    gc.collect()  # the model's memory is the engine's next
    state = msgspec.json.decode((folder.path / "state.json").read_bytes(), type=RunState)
    return TrainedTuning(
        path=folder.adapter,
        num_holes=num_holes,
        holes_sha256=_sha256(folder.path / "holes.safetensors"),
        num_steps=state.step,
        seconds=state.spent_s,
    )


def forget_run(root: Path) -> None:
    """Delete what a repository's runs have left."""
    shutil.rmtree(_runs_of(root), ignore_errors=True)


def _learn(
    order: RepositoryOrder, files: RepositoryFiles, folder: RunFolder, on_progress: "OnProgress"
) -> int:
    """Return the number of holes."""
    model = load_backbone(order.model, on_progress)
    holes = _packed(order, files, folder, model.text, on_progress)
    fim = model.text.mark_ids()
    usual = torch.arange(min(_USUAL_TOKENS, model.backbone.shape.vocab_size))
    named = torch.cat([holes.used_ids(), torch.tensor([fim.end]), usual])
    task = TuningTask(
        model.backbone,
        fim,
        UsedVocabulary(model.backbone, named),
        rank=order.rank,
        seed=order.seed,
        mix=TuningMix(),
    )

    def tell(progress: Progress) -> None:
        words = f"learning {order.root.name}: step {progress.step}, loss {progress.loss:.3f}"
        on_progress(words, min(1.0, progress.share_done))

    train(
        task,
        holes,
        folder,
        Budget(minutes=order.minutes, tokens=order.tokens),
        LoopOptions(seed=order.seed, peak_rate=order.rate, holes_per_pass=order.holes_per_pass),
        settings={"what": "repository tuning", "model": model.name, "rank": order.rank},
        about={"kind": "tuning", "backbone": model.name, "seed": str(order.seed)},
        on_step=tell,
    )
    return len(holes)


def _packed(
    order: RepositoryOrder,
    files: RepositoryFiles,
    folder: RunFolder,
    text: FimTokenizer,
    on_progress: "OnProgress",
) -> PackedHoles:
    path = folder.path / "holes.safetensors"
    if path.exists():
        return read_packed(path)
    on_progress("drawing holes", None)
    per_file = max(1, min(order.holes_per_file, MAX_HOLES // len(files.training)))
    holes = draw_holes(files.training, seed=order.seed, per_file=per_file)
    return pack(encode_holes(holes, text, grouped_by="file"), path, about={})


def _folder_of(order: RepositoryOrder, files: RepositoryFiles) -> Path:
    """Return the run's folder; runs of other files or another order are deleted."""
    said = f"{version('intarsia')} {LAYOUT} {digest_of(files.training)} {order}"
    mark = hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    runs = _runs_of(order.root)
    for other in runs.glob("*"):
        if other.name != mark:
            shutil.rmtree(other, ignore_errors=True)
    return runs / mark


def _runs_of(root: Path) -> Path:
    return cache_folder() / "repository-runs" / key_of(root)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
