"""One training run as the command line orders it: corpus → packed holes → task → loop."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch

from intarsia.cli.train_holes import encode_holes
from intarsia.corpus.corpus_file import read_corpus
from intarsia.corpus.holes import draw_holes
from intarsia.engine.families.fim_text import FimIds, FimText
from intarsia.engine.training.batched_backbone import BatchedBackbone
from intarsia.engine.training.budget import Budget
from intarsia.engine.training.canvas_batch import CanvasMix
from intarsia.engine.training.canvas_task import CanvasTask, Weighting
from intarsia.engine.training.curves import draw_curves
from intarsia.engine.training.load_backbone import load_backbone
from intarsia.engine.training.packed_holes import PackedHoles, pack, read_packed
from intarsia.engine.training.run_folder import RunFolder
from intarsia.engine.training.train_loop import LoopOptions, Progress, train
from intarsia.engine.training.tuning_task import TuningMix, TuningTask
from intarsia.engine.training.vocabulary import UsedVocabulary

if TYPE_CHECKING:
    OnProgress = Callable[[str, float | None], None]

_RATES = {"adapter": 5e-4, "tuning": 2e-4}
_RANKS = {"adapter": 32, "tuning": 16}


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingOrder:
    """What to train, on what, for how long. What is None is left to the kind of weights."""

    what: Literal["adapter", "tuning"]
    corpus: Path
    model: str
    start: Path | None
    tuning: Path | None
    minutes: float | None
    tokens: int | None
    rank: int | None
    rate: float | None
    holes_per_pass: int
    passes_per_step: int
    holes_per_file: int
    seed: int


def run_training(order: TrainingOrder, out: Path, on_progress: "OnProgress") -> dict[str, float]:
    """Train, and return the figures on held-out holes. Raises ModelError, CorpusFault."""
    model = load_backbone(order.model, on_progress, tuning=order.tuning)
    folder = RunFolder(out)
    holes = _packed(order, folder, model.text, on_progress)
    fim = model.text.mark_ids()
    vocabulary = UsedVocabulary(
        model.backbone, torch.cat([holes.used_ids(), torch.tensor([fim.end])])
    )
    task = _task(order, model.backbone, fim, vocabulary)
    if order.start is not None:
        task.start_from(order.start)
    settings: dict[str, Any] = {
        "what": order.what,
        "model": model.name,
        "start": order.start and order.start.name,
        "tuning": order.tuning and order.tuning.name,
        "rank": order.rank,
        "holes_per_file": order.holes_per_file,
    }

    def tell(progress: Progress) -> None:
        words = f"step {progress.step}, {progress.num_tokens:,} tokens, loss {progress.loss:.3f}"
        on_progress(words, min(1.0, progress.share_done))

    figures = train(
        task,
        holes,
        folder,
        Budget(minutes=order.minutes, tokens=order.tokens),
        LoopOptions(
            seed=order.seed,
            peak_rate=order.rate or _RATES[order.what],
            holes_per_pass=order.holes_per_pass,
            passes_per_step=order.passes_per_step,
        ),
        settings=settings,
        about={"kind": order.what, "backbone": model.name, "seed": str(order.seed)},
        on_step=tell,
    )
    draw_curves(folder.log, out / "curves.svg")
    return figures


def _task(
    order: TrainingOrder, backbone: BatchedBackbone, fim: FimIds, vocabulary: UsedVocabulary
) -> CanvasTask | TuningTask:
    rank = order.rank or _RANKS[order.what]
    if order.what == "tuning":
        return TuningTask(backbone, fim, vocabulary, rank=rank, seed=order.seed, mix=TuningMix())
    return CanvasTask(
        backbone,
        fim,
        vocabulary,
        rank=rank,
        seed=order.seed,
        mix=CanvasMix(),
        weighting=Weighting(),
    )


def _packed(
    order: TrainingOrder, folder: RunFolder, text: FimText, on_progress: "OnProgress"
) -> PackedHoles:
    """Return the corpus's holes as ids; a run that goes on has them already."""
    path = folder.path / "holes.safetensors"
    if path.exists():
        return read_packed(path)
    on_progress("drawing holes from the corpus", None)
    holes = draw_holes(read_corpus(order.corpus), seed=order.seed, per_file=order.holes_per_file)
    return pack(encode_holes(holes, text), path, about={"corpus": order.corpus.name})
