"""Trains a tuning of DiffusionGemma: write holes between given text and suffix.

The canvas is laid out as in a fill, with a clean suffix; noise and loss are on the hole only. The
noise of a hole is uniform in (0, 1], its loss the unweighted cross entropy. Half of the holes are
conditioned on the logits of a first pass. Router and experts are not trained.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes
from intarsia.engine.families.diffusion_gemma.load import tunable_layers
from intarsia.engine.families.diffusion_gemma.tokenizer import SpecialIds
from intarsia_research.training.low_rank_modules import LowRankModules
from intarsia_research.training.low_rank_task import LowRankTask
from intarsia_research.training.packed_holes import HoleIds
from intarsia_research.training.train_loop import PassLoss
from intarsia_research.training.uniform_backbone import UniformBackbone
from intarsia_research.training.uniform_canvas import (
    CanvasRules,
    CleanCanvas,
    UniformBatch,
    UniformMix,
    batch_of,
    draw_canvas,
    noised,
)

HELD_OUT_NOISES = (0.25, 0.5, 1.0)
"""The noise of held-out holes; at 1 every token is replaced, as when a fill begins."""


class UniformTask(LowRankTask):
    """The low-rank tuning of a DiffusionGemma (a TrainingTask)."""

    def __init__(
        self,
        model: Any,
        special: SpecialIds,
        *,
        rank: int,
        seed: int,
        mix: UniformMix,
        strength: float = 1.0,
    ) -> None:
        """``strength``: the share of the changes that is written."""
        self._backbone = UniformBackbone(model)
        self.module = LowRankModules(
            tunable_layers(model), rank=rank, generator=torch.Generator().manual_seed(seed)
        )
        self.module.to(self._backbone.device)
        self._mix = mix
        super().__init__(self.module, strength)
        self._rules = CanvasRules(
            sizes=CanvasSizes(canvas_length=self._backbone.canvas_length),
            end_id=special.first_end,
            pad_id=special.pad,
            vocab_size=self._backbone.vocab_size,
        )

    @property
    def max_suffix(self) -> int:
        """The number of suffix tokens that a canvas shows."""
        return self._rules.sizes.max_suffix

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss on one canvas drawn over each hole."""
        canvases = self._draw(holes, rng)
        noises = [rng.uniform(self._mix.min_noise, 1) for _ in canvases]
        batch = self._noised(canvases, noises, rng)
        is_conditioned = torch.tensor(
            [rng.random() < self._mix.share_conditioned for _ in canvases],
            device=self._backbone.device,
        )
        predictions = self._predict(batch, is_conditioned)
        return PassLoss(loss=predictions.losses.mean(), num_tokens=len(predictions.losses))

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the mean loss, loss and accuracy of one pass at each noise, and ``whole``: the
        share of holes that one pass from pure noise gets completely right."""
        drawn = [self._draw(holes, rng) for holes in batches]
        figures: dict[str, float] = {}
        for noise in HELD_OUT_NOISES:
            batches_noised = [
                self._noised(canvases, [noise] * len(canvases), rng) for canvases in drawn
            ]
            predictions = [self._predict(batch, None) for batch in batches_noised]
            losses = torch.cat([each.losses for each in predictions])
            figures[f"loss_at_{noise}"] = float(losses.mean())
            hits = torch.cat([each.is_hit[each.is_needed] for each in predictions])
            figures[f"accuracy_at_{noise}"] = float(hits.float().mean())
            wrong = [
                set(each.holes[each.is_needed & ~each.is_hit].tolist()) for each in predictions
            ]
            figures["whole"] = 1 - sum(map(len, wrong)) / sum(map(len, drawn))
        loss = sum(figures[f"loss_at_{noise}"] for noise in HELD_OUT_NOISES) / len(HELD_OUT_NOISES)
        return {"loss": loss, **figures}

    def _draw(self, holes: Sequence[HoleIds], rng: random.Random) -> list[CleanCanvas]:
        return [draw_canvas(hole, self._mix, self._rules, rng) for hole in holes]

    def _noised(
        self, canvases: Sequence[CleanCanvas], noises: Sequence[float], rng: random.Random
    ) -> UniformBatch:
        noisy = [
            noised(canvas, noise, self._rules, rng)
            for canvas, noise in zip(canvases, noises, strict=True)
        ]
        batch = batch_of(canvases, noisy, pad_id=self._rules.pad_id)
        return batch.to(self._backbone.device)

    def _predict(self, batch: UniformBatch, is_conditioned: Tensor | None) -> "_Predictions":
        keys_values = self._backbone.prefill(batch)
        if is_conditioned is not None and bool(is_conditioned.any()):
            first = self._first_logits(batch, keys_values)
            hidden = self._backbone.forward(batch, keys_values, first, is_conditioned)
        else:
            hidden = self._backbone.forward(batch, keys_values, None, None)
        logits = self._backbone.logits(hidden[batch.is_hole])
        targets = batch.clean[batch.is_hole]
        indexes = torch.arange(len(batch.clean), device=logits.device)[:, None]
        return _Predictions(
            losses=F.cross_entropy(logits, targets, reduction="none"),
            is_hit=logits.argmax(-1) == targets,
            is_needed=batch.is_needed[batch.is_hole],
            holes=indexes.expand_as(batch.is_hole)[batch.is_hole],
        )

    @torch.no_grad()
    def _first_logits(self, batch: UniformBatch, keys_values: Any) -> Tensor:
        """Return the logits of a first pass (holes, length, vocab); known tokens are certain, as
        between two denoising steps of a fill."""
        hidden = self._backbone.forward(batch, keys_values, None, None)
        logits = self._backbone.logits(hidden)
        known = torch.full_like(logits, -torch.inf).scatter_(-1, batch.clean[..., None], 0.0)
        return torch.where(batch.is_hole[..., None], logits, known)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Predictions:
    """What is predicted at the holes' positions, (scored,) each."""

    losses: Tensor
    is_hit: Tensor
    is_needed: Tensor
    holes: Tensor  # the hole's index in its batch
