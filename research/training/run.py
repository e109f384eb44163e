"""One training run as the command line orders it: corpus → packed holes → task → loop."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import torch

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.model_store.family import Family
from intarsia.engine.model_store.locate import ModelFolder, locate_model
from intarsia.research.corpus.corpus_file import read_corpus
from intarsia.research.corpus.holes import TrainingHole, draw_holes
from intarsia.research.training.budget import Budget
from intarsia.research.training.canvas_batch import CanvasMix
from intarsia.research.training.canvas_task import CanvasTask, Weighting
from intarsia.research.training.curves import draw_curves
from intarsia.research.training.encode_holes import LAYOUT, encode_holes
from intarsia.research.training.load_backbone import load_backbone
from intarsia.research.training.packed_holes import HoleIds, PackedHoles, pack, read_packed
from intarsia.research.training.run_folder import RunFolder
from intarsia.research.training.task import TrainingTask
from intarsia.research.training.train_loop import LoopOptions, Progress, train
from intarsia.research.training.tuning_task import TuningMix, TuningTask
from intarsia.research.training.vocabulary import UsedVocabulary

OnProgress: TypeAlias = Callable[[str, float | None], None]

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
    strength: float


class _StartingTask(TrainingTask, Protocol):
    """A task that can go on from the weights of an earlier run."""

    def start_from(self, path: Path) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trainee:
    """A loaded model, and what its family makes of holes."""

    name: str
    encode: Callable[[Iterable[TrainingHole]], Iterator[HoleIds]]
    task_for: Callable[[PackedHoles], _StartingTask]


def run_training(order: TrainingOrder, out: Path, on_progress: OnProgress) -> dict[str, float]:
    """Train, and return the figures on held-out holes. Raises ModelError, CorpusFault."""
    located = locate_model(order.model, on_progress, rows_tuned_by=rows_tuned_by)
    model = _TRAINEES[located.family](order, located, on_progress)
    folder = RunFolder(out)
    holes = _packed(order, folder, model, on_progress)
    task = model.task_for(holes)
    if order.start is not None:
        task.start_from(order.start)
    settings: dict[str, Any] = {
        "what": order.what,
        "model": model.name,
        "start": order.start and order.start.name,
        "tuning": order.tuning and order.tuning.name,
        "rank": order.rank,
        "holes_per_file": order.holes_per_file,
        "layout": LAYOUT,
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


def _packed(
    order: TrainingOrder, folder: RunFolder, model: _Trainee, on_progress: OnProgress
) -> PackedHoles:
    """Return the corpus's holes as ids; a run that goes on has them already."""
    path = folder.path / "holes.safetensors"
    if path.exists():
        return read_packed(path)
    on_progress("drawing holes from the corpus", None)
    holes = draw_holes(read_corpus(order.corpus), seed=order.seed, per_file=order.holes_per_file)
    return pack(model.encode(holes), path, about={"corpus": order.corpus.name})


def _causal(order: TrainingOrder, located: ModelFolder, on_progress: OnProgress) -> _Trainee:
    model = load_backbone(order.model, on_progress, tuning=order.tuning)
    fim, rank = model.text.mark_ids(), order.rank or _RANKS[order.what]

    def task_for(holes: PackedHoles) -> _StartingTask:
        named = torch.cat([holes.used_ids(), torch.tensor([fim.end])])
        parts = (model.backbone, fim, UsedVocabulary(model.backbone, named))
        if order.what == "tuning":
            return TuningTask(
                *parts, rank=rank, seed=order.seed, mix=TuningMix(), strength=order.strength
            )
        return CanvasTask(
            *parts, rank=rank, seed=order.seed, mix=CanvasMix(), weighting=Weighting()
        )

    return _Trainee(
        name=model.name, encode=lambda holes: encode_holes(holes, model.text), task_for=task_for
    )


def _uniform(order: TrainingOrder, located: ModelFolder, on_progress: OnProgress) -> _Trainee:
    if order.what == "adapter":
        raise ModelError(f"{located.name} takes no adapter: train a tuning of it")
    # transformers takes seconds to import: only the family that needs it pays
    from intarsia.research.training.encode_gemma_holes import encode_gemma_holes
    from intarsia.research.training.load_uniform import load_uniform
    from intarsia.research.training.uniform_canvas import UniformMix
    from intarsia.research.training.uniform_task import UniformTask

    loaded, mix = load_uniform(located, on_progress, tuning=order.tuning), UniformMix()
    task = UniformTask(
        loaded.model,
        loaded.text.special,
        rank=order.rank or _RANKS[order.what],
        seed=order.seed,
        mix=mix,
        strength=order.strength,
    )
    return _Trainee(
        name=located.name,
        encode=lambda holes: encode_gemma_holes(
            holes, loaded.text, max_suffix=task.max_suffix, max_middle=mix.max_free
        ),
        task_for=lambda holes: task,
    )


_TRAINEES: Mapping[Family, Callable[[TrainingOrder, ModelFolder, OnProgress], _Trainee]] = {
    "masked_causal": _causal,
    "diffusion_gemma": _uniform,
}
