"""What a tuning of DiffusionGemma learns: to write holes between given text and suffix.

The canvas is a fill's own: the suffix stands in it clean, noise and loss are on the hole alone. The
noise of a hole is uniform in (0, 1], its loss the flat cross entropy; half of the holes see what a
first pass said of them. Router and experts stay as they are.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes
from intarsia.engine.families.diffusion_gemma.tokenizer import SpecialIds
from intarsia.engine.families.diffusion_gemma.tuning import tunable_layers
from intarsia.research.training.adapter_file import load_numbers, save_tuning
from intarsia.research.training.low_rank_modules import LowRankModules
from intarsia.research.training.packed_holes import HoleIds
from intarsia.research.training.task import PassLoss
from intarsia.research.training.uniform_backbone import UniformBackbone
from intarsia.research.training.uniform_batch import UniformBatch, batch_of
from intarsia.research.training.uniform_canvas import (
    CanvasRules,
    CleanCanvas,
    UniformMix,
    draw_canvas,
    noised,
)

JUDGED_NOISES = (0.25, 0.5, 1.0)
"""How noisy the holes are that are judged; at 1 nothing of them is left, as when a fill begins."""


class UniformTask:
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
        """``strength``: what share of the changes is written."""
        self._backbone = UniformBackbone(model)
        self.module = LowRankModules(
            tunable_layers(model), rank=rank, generator=torch.Generator().manual_seed(seed)
        )
        self.module.to(self._backbone.device)
        self._mix = mix
        self._strength = strength
        self._rules = CanvasRules(
            sizes=CanvasSizes(canvas_length=self._backbone.canvas_length),
            end_id=special.first_end,
            pad_id=special.pad,
            vocab_size=self._backbone.vocab_size,
        )

    @property
    def max_suffix(self) -> int:
        """How many tokens of a suffix a canvas shows."""
        return self._rules.sizes.max_suffix

    def start_from(self, path: Path) -> None:
        """Go on from a tuning's file."""
        load_numbers(self.module.named(), path)

    def save(self, path: Path, *, about: dict[str, str]) -> None:
        """Write the tuning."""
        save_tuning(self.module.named(), path, about=about, strength=self._strength)

    def learn(self, holes: Sequence[HoleIds], chosen: random.Random) -> PassLoss:
        """Return the loss on one canvas drawn over each hole."""
        canvases = self._draw(holes, chosen)
        noises = [chosen.uniform(self._mix.least_noise, 1) for _ in canvases]
        batch = self._noised(canvases, noises, chosen)
        is_conditioned = torch.tensor(
            [chosen.random() < self._mix.share_conditioned for _ in canvases],
            device=self._backbone.device,
        )
        said = self._say(batch, is_conditioned)
        return PassLoss(loss=said.losses.mean(), num_tokens=len(said.losses))

    def judge(
        self, batches: Sequence[Sequence[HoleIds]], chosen: random.Random
    ) -> dict[str, float]:
        """Return the loss (over all, and for each noise), the share of tokens and ends that one
        pass names rightly, and the share of holes that it names rightly as a whole from noise
        alone."""
        drawn = [self._draw(holes, chosen) for holes in batches]
        figures: dict[str, float] = {}
        for noise in JUDGED_NOISES:
            said = [
                self._say(self._noised(canvases, [noise] * len(canvases), chosen), None)
                for canvases in drawn
            ]
            figures[f"loss_at_{noise}"] = float(torch.cat([it.losses for it in said]).mean())
            hits = torch.cat([it.is_hit[it.is_needed] for it in said])
            figures[f"accuracy_at_{noise}"] = float(hits.float().mean())
            wrong = [set(it.holes[it.is_needed & ~it.is_hit].tolist()) for it in said]
            figures["whole"] = 1 - sum(map(len, wrong)) / sum(map(len, drawn))
        losses = [figures[f"loss_at_{noise}"] for noise in JUDGED_NOISES]
        return {"loss": sum(losses) / len(losses), **figures}

    def _draw(self, holes: Sequence[HoleIds], chosen: random.Random) -> list[CleanCanvas]:
        return [draw_canvas(hole, self._mix, self._rules, chosen) for hole in holes]

    def _noised(
        self, canvases: Sequence[CleanCanvas], noises: Sequence[float], chosen: random.Random
    ) -> UniformBatch:
        noisy = [
            noised(canvas, noise, self._rules, chosen)
            for canvas, noise in zip(canvases, noises, strict=True)
        ]
        batch = batch_of(canvases, noisy, pad_id=self._rules.pad_id)
        return batch.to(self._backbone.device)

    def _say(self, batch: UniformBatch, is_conditioned: Tensor | None) -> "_Said":
        read = self._backbone.read(batch)
        seen = None
        if is_conditioned is not None and bool(is_conditioned.any()):
            seen = self._first_said(batch, read)
        hidden = self._backbone.hidden(batch, read, seen, None if seen is None else is_conditioned)
        logits = self._backbone.logits(hidden[batch.is_hole])
        targets = batch.clean[batch.is_hole]
        numbers = torch.arange(len(batch.clean), device=logits.device)[:, None]
        return _Said(
            losses=F.cross_entropy(logits, targets, reduction="none"),
            is_hit=logits.argmax(-1) == targets,
            is_needed=batch.is_needed[batch.is_hole],
            holes=numbers.expand_as(batch.is_hole)[batch.is_hole],
        )

    @torch.no_grad()
    def _first_said(self, batch: UniformBatch, read: Any) -> Tensor:
        """Return the logits of a first pass (holes, length, vocab); what is known is certain there,
        as it is between two steps of a fill."""
        logits = self._backbone.logits(self._backbone.hidden(batch, read, None, None))
        known = torch.full_like(logits, -torch.inf).scatter_(-1, batch.clean[..., None], 0.0)
        return torch.where(batch.is_hole[..., None], logits, known)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Said:
    """What is said of the holes' tokens, (asked,) each."""

    losses: Tensor
    is_hit: Tensor
    is_needed: Tensor
    holes: Tensor  # the number of the hole
