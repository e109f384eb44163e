"""Trains a causal backbone to denoise holes: uniform-state diffusion by low-rank changes.

Canvases are laid out as fills denoise them. The loss is the cross entropy of every canvas token,
the hole's and its end in full. Half of the passes are conditioned on the prediction of a first one.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimIds
from intarsia_research.training.low_rank_task import LowRankTask
from intarsia_research.training.packed_holes import HoleIds, lay_out
from intarsia_research.training.train_loop import PassLoss
from intarsia_research.training.uniform_causal_backbone import (
    ReadContexts,
    UniformCausalBackbone,
    UniformChanges,
)
from intarsia_research.training.uniform_causal_rows import (
    IGNORED,
    CanvasIds,
    CanvasRows,
    CausalMix,
    NoisyCanvas,
    draw_canvas,
    draw_noise,
    lay_out_canvas,
    noised,
    stack_rows,
)

HELD_OUT_NOISES = (0.25, 0.5, 1.0)
"""The noise of held-out holes; at 1 every token is replaced, as when a fill begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UniformCausalOptions:
    """``rank`` and ``seed`` of the low-rank matrices; tokens of the file around a hole."""

    rank: int = 32
    seed: int = 0
    max_prefix: int = 320
    max_suffix: int = 120
    share_conditioned: float = 0.5


def fits_a_canvas(hole: HoleIds) -> bool:
    """Return whether the longest canvas that is drawn holds a hole and its end."""
    return 0 < len(hole.middle) < CausalMix().max_free


class UniformCausalTask(LowRankTask):
    """The low-rank changes of canvas rows (a TrainingTask). All holes must fit a canvas."""

    def __init__(
        self,
        backbone: UniformCausalBackbone,
        fim: FimIds,
        pad_id: int,
        options: UniformCausalOptions,
        mix: CausalMix,
    ) -> None:
        self.module = UniformChanges(backbone.shape, rank=options.rank, seed=options.seed)
        self.module.to(backbone.device)
        super().__init__(self.module, strength=1.0)
        self._backbone, self._fim, self._pad_id = backbone, fim, pad_id
        self._options, self._mix = options, mix

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss on canvases drawn over each hole."""
        noise = _generator(rng)
        drawn = [self._draw(hole, rng, noise) for hole in holes]
        is_conditioned = rng.random() < self._options.share_conditioned
        found = self._predict(holes, drawn, is_conditioned=is_conditioned)
        loss = (found.losses * found.weights).sum() / found.weights.sum()
        return PassLoss(loss=loss, num_tokens=int(found.is_needed.sum()))

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the mean loss, and at each noise loss and accuracy of one pass on the shortest
        canvas that fits, without a suffix; as ``first_…`` those of the hole's first token."""
        figures: dict[str, float] = {}
        for noise in HELD_OUT_NOISES:
            found = [
                self._predict(
                    holes,
                    [[self._at_noise(hole, noise, _generator(rng))] for hole in holes],
                    is_conditioned=False,
                )
                for holes in batches
            ]
            needed = torch.cat([each.losses[each.is_needed] for each in found])
            hits = torch.cat([each.is_hit[each.is_needed] for each in found])
            first = torch.cat([each.is_hit[each.is_first] for each in found])
            figures[f"loss_at_{noise}"] = float(needed.mean())
            figures[f"accuracy_at_{noise}"] = float(hits.float().mean())
            figures[f"first_at_{noise}"] = float(first.float().mean())
        loss = sum(figures[f"loss_at_{noise}"] for noise in HELD_OUT_NOISES) / len(HELD_OUT_NOISES)
        return {"loss": loss, **figures}

    def _draw(
        self, hole: HoleIds, rng: random.Random, generator: np.random.Generator
    ) -> list[NoisyCanvas]:
        """Draw canvases up to the number of rows that a hole gets: short ones are more."""
        canvases: list[NoisyCanvas] = []
        num_rows = 0
        while num_rows < self._mix.rows_per_hole:
            ids = {"end_id": self._fim.end, "pad_id": self._pad_id}
            canvas = draw_canvas(hole.middle, hole.suffix, self._mix, rng, **ids)
            noise = draw_noise(canvas.num_free, self._mix, rng)
            canvases.append(self._noised(hole, canvas, noise, generator))
            num_rows += len(canvas.shown) + 1
        return canvases

    def _at_noise(self, hole: HoleIds, noise: float, generator: np.random.Generator) -> NoisyCanvas:
        lengths = [n for n in (8, 16, 32, self._mix.max_free) if n > len(hole.middle)]
        ids = {"end_id": self._fim.end, "pad_id": self._pad_id}
        canvas = lay_out_canvas(hole.middle, (), lengths[0], **ids)
        return self._noised(hole, canvas, np.full(canvas.num_free, noise), generator)

    def _noised(
        self, hole: HoleIds, canvas: CanvasIds, noise: np.ndarray, generator: np.random.Generator
    ) -> NoisyCanvas:
        first = hole.given[-1] if hole.given else self._fim.before_middle
        vocab_size = self._backbone.shape.vocab_size
        return noised(canvas, noise, first, vocab_size=vocab_size, rng=generator)

    def _predict(
        self,
        holes: Sequence[HoleIds],
        drawn: Sequence[Sequence[NoisyCanvas]],
        *,
        is_conditioned: bool,
    ) -> "_Predictions":
        contexts = [self._context(hole) for hole in holes]
        read = self._backbone.prefill(contexts)
        rows = stack_rows(drawn, list(map(len, contexts)), weight_beyond=self._mix.weight_beyond)
        rows = rows.to(self._backbone.device)
        predicted = self._first_prediction(rows, read) if is_conditioned else None
        hidden = self._backbone.forward_rows(rows, read, self.module, predicted)
        is_scored = rows.targets != IGNORED
        logits = self._backbone.logits(hidden[is_scored])
        targets = rows.targets[is_scored]
        return _Predictions(
            losses=F.cross_entropy(logits, targets, reduction="none"),
            is_hit=logits.detach().argmax(-1) == targets,
            weights=rows.weights[is_scored],
            is_needed=rows.is_needed[is_scored],
            is_first=(rows.positions == read.num[:, None])[is_scored],
        )

    def _context(self, hole: HoleIds) -> list[int]:
        """Return the ids before the canvas; its first row holds the one after them."""
        o = self._options
        laid_out = lay_out(hole, self._fim, o.max_prefix, o.max_suffix, self._mix.max_free)
        return laid_out.ids[: laid_out.given_end - 1]

    @torch.no_grad()
    def _first_prediction(self, rows: CanvasRows, read: ReadContexts) -> Tensor:
        """Return the mean embedding (holes, rows, hidden) that a first pass predicts for each row's
        token; zeros for first rows, and for padding."""
        hidden = self._backbone.forward_rows(rows, read, self.module)
        is_scored = rows.targets != IGNORED
        predicted = torch.zeros_like(hidden)
        is_predicted = torch.zeros_like(is_scored)
        is_predicted[:, 1:] = is_scored[:, :-1]
        logits = self._backbone.logits(hidden[is_scored])
        predicted[is_predicted] = self._backbone.mean_of(logits.softmax(-1))
        return predicted


def _generator(rng: random.Random) -> np.random.Generator:
    return np.random.default_rng(rng.getrandbits(64))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Predictions:
    """What is predicted at the rows that predict a token, (scored,) each."""

    losses: Tensor
    is_hit: Tensor
    weights: Tensor
    is_needed: Tensor
    is_first: Tensor
