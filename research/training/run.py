"""Runs one training on a corpus: draw holes, encode and pack them, train."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import torch

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.model_store.checkpoint import Family
from intarsia.engine.model_store.locate import ModelFolder, locate_model
from intarsia_research.training.batched_backbone import (
    ReportProgress,
    UsedVocabulary,
    load_backbone,
)
from intarsia_research.training.drafter_task import DrafterTask, DrafterTaskOptions
from intarsia_research.training.draw_holes import TrainingHole
from intarsia_research.training.encode_holes import LAYOUT, encode_holes
from intarsia_research.training.holes.draw import HoleDraw, draw_from_corpus
from intarsia_research.training.packed_holes import HoleIds, PackedHoles, pack, read_packed
from intarsia_research.training.run_folder import RunFolder
from intarsia_research.training.train_loop import (
    Budget,
    LoopOptions,
    TrainingPlan,
    TrainingProgress,
    TrainingTask,
    train,
)
from intarsia_research.training.tuning_task import TuningTask, TuningTaskOptions
from intarsia_research.training.uniform_causal_backbone import PAD, UniformCausalBackbone
from intarsia_research.training.uniform_causal_rows import CausalMix
from intarsia_research.training.uniform_causal_task import (
    UniformCausalOptions,
    UniformCausalTask,
    fits_a_canvas,
)

_RATES = {"drafter": 5e-4, "tuning": 2e-4, "uniform": 8e-4}
_RANKS = {"tuning": 16, "uniform": 32}
_NUM_DRAFTED = 24_064
"""Tokens that a drafter can draft: the commonest of the corpus."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingOptions:
    """What to train, on what, for how long.

    ``rank`` (of low-rank changes) and ``rate``: None is the default of the kind of weights.
    ``max_holes``: None draws in all files. ``project_share``: how often a hole reads code of other
    files, if there is some. ``window``: tokens of the file before and after the hole; None is the
    family's default.
    """

    what: Literal["drafter", "tuning", "uniform"]
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
    max_holes: int | None = None
    project_share: float = 0.0
    window: tuple[int, int] | None = None


def run_training(
    options: TrainingOptions, out: Path, on_progress: ReportProgress
) -> dict[str, float]:
    """Train, and return the figures on held-out holes. Raises ModelError, CorpusFault."""
    located = locate_model(options.model, on_progress, rows_tuned_by=rows_tuned_by)
    model = _LOADERS[located.family](options, located, on_progress)
    folder = RunFolder(out)
    holes = _packed_holes(options, folder, model, on_progress)
    task = model.task_for(holes)
    if options.start is not None:
        task.start_from(options.start)

    def report(progress: TrainingProgress) -> None:
        text = f"step {progress.step}, {progress.num_tokens:,} tokens, loss {progress.loss:.3f}"
        on_progress(text, min(1.0, progress.share_done))

    return train(task, holes, folder, _plan(options, model.name), on_step=report)


class _StartableTask(TrainingTask, Protocol):
    """A task that can start from the weights of an earlier run."""

    def start_from(self, path: Path) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _TrainableModel:
    """A loaded model: how its family encodes holes, and the task it is trained with."""

    name: str
    encode: Callable[[Iterable[TrainingHole]], Iterator[HoleIds]]
    task_for: Callable[[PackedHoles], _StartableTask]


def _plan(options: TrainingOptions, model: str) -> TrainingPlan:
    return TrainingPlan(
        budget=Budget(minutes=options.minutes, tokens=options.tokens),
        options=LoopOptions(
            seed=options.seed,
            peak_rate=options.rate or _RATES[options.what],
            holes_per_pass=options.holes_per_pass,
            passes_per_step=options.passes_per_step,
        ),
        settings={
            "what": options.what,
            "model": model,
            "start": options.start and options.start.name,
            "tuning": options.tuning and options.tuning.name,
            "rank": options.rank,
            "holes_per_file": options.holes_per_file,
            "max_holes": options.max_holes,
            "project_share": options.project_share,
            "window": options.window and list(options.window),
            "layout": LAYOUT,
        },
        metadata={"kind": options.what, "backbone": model, "seed": str(options.seed)},
    )


def _packed_holes(
    options: TrainingOptions,
    folder: RunFolder,
    model: _TrainableModel,
    on_progress: ReportProgress,
) -> PackedHoles:
    """Draw and encode the corpus's holes, or read those of a resumed run.

    Raises ModelError if those were drawn with other settings, in a run that saved no state yet.
    """
    draw = HoleDraw(
        seed=options.seed,
        per_file=options.holes_per_file,
        max_holes=options.max_holes,
        project_share=options.project_share,
    )
    path = folder.path / "holes.safetensors"
    metadata = {
        "corpus": options.corpus.name,
        "draw": str(draw),
        "model": model.name,
        "layout": LAYOUT,
        "window": str(options.window),
    }
    if path.exists():
        return read_packed(path, metadata=metadata)
    on_progress("drawing holes from the corpus", None)
    holes = draw_from_corpus(options.corpus, draw, on_progress)
    return pack(model.encode(holes), path, metadata=metadata)


def _load_causal(
    options: TrainingOptions, located: ModelFolder, on_progress: ReportProgress
) -> _TrainableModel:
    model = load_backbone(options.model, on_progress, tuning=options.tuning)
    fim = model.tokenizer.mark_ids()
    window = options.window
    shown = {} if window is None else {"max_prefix": window[0], "max_suffix": window[1]}

    def task_for(holes: PackedHoles) -> _StartableTask:
        used = torch.cat([holes.used_ids(), torch.tensor([fim.end])])
        vocabulary = UsedVocabulary(model.backbone, used)
        if options.what == "uniform":
            backbone = UniformCausalBackbone(model.backbone.shape, model.backbone.weights)
            uniform_options = UniformCausalOptions(
                rank=options.rank or _RANKS["uniform"], seed=options.seed, **shown
            )
            pad_id = model.tokenizer.mark_id(PAD)
            return UniformCausalTask(backbone, fim, pad_id, uniform_options, CausalMix())
        if options.what == "tuning":
            rank = options.rank or _RANKS["tuning"]
            tuning_options = TuningTaskOptions(rank=rank, seed=options.seed, **shown)
            return TuningTask(
                model.backbone, fim, vocabulary, tuning_options, strength=options.strength
            )
        drafted = torch.cat([holes.commonest_ids(_NUM_DRAFTED - 1), torch.tensor([fim.end])])
        drafter_options = DrafterTaskOptions(seed=options.seed, **shown)
        return DrafterTask(model.backbone, fim, vocabulary, drafted, drafter_options)

    def encode(holes: Iterable[TrainingHole]) -> Iterator[HoleIds]:
        encoded = encode_holes(holes, model.tokenizer, window=window)
        return filter(fits_a_canvas, encoded) if options.what == "uniform" else encoded

    return _TrainableModel(name=model.name, encode=encode, task_for=task_for)


def _load_uniform(
    options: TrainingOptions, located: ModelFolder, on_progress: ReportProgress
) -> _TrainableModel:
    if options.what != "tuning":
        why = "takes no drafter" if options.what == "drafter" else "denoises already"
        raise ModelError(f"{located.name} {why}: train a tuning of it")
    if options.project_share or options.window:
        raise ModelError(
            f"{located.name} is trained without code of other files and with a window of its own: "
            "leave out --project-share and --window"
        )
    # importing transformers takes seconds: only this family needs it
    from intarsia_research.training.holes.encode_gemma_holes import encode_gemma_holes
    from intarsia_research.training.uniform_backbone import load_uniform
    from intarsia_research.training.uniform_canvas import UniformMix
    from intarsia_research.training.uniform_task import UniformTask

    loaded, mix = load_uniform(located, on_progress, tuning=options.tuning), UniformMix()
    task = UniformTask(
        loaded.model,
        loaded.text.special,
        rank=options.rank or _RANKS["tuning"],
        seed=options.seed,
        mix=mix,
        strength=options.strength,
    )
    return _TrainableModel(
        name=located.name,
        encode=lambda holes: encode_gemma_holes(
            holes, loaded.text, max_suffix=task.max_suffix, max_middle=mix.max_free
        ),
        task_for=lambda holes: task,
    )


_LOADERS: Mapping[
    Family, Callable[[TrainingOptions, ModelFolder, ReportProgress], _TrainableModel]
] = {
    "masked_causal": _load_causal,
    "diffusion_gemma": _load_uniform,
}
