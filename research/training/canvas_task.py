"""Trains the gated adapter: from a canvas, predict what the backbone would predict.

The same forward pass yields the backbone's own distributions. They are soft targets, mixed with the
true tokens.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimIds
from intarsia.training.batched_backbone import UsedVocabulary
from intarsia.training.packed_holes import HoleIds
from intarsia.training.train_loop import PassLoss
from intarsia.training.tuning_task import save_tensors
from intarsia_research.training.adapted_backbone import AdaptedBackbone, Prefilled
from intarsia_research.training.adapter_file import load_tensors
from intarsia_research.training.canvas_batch import CanvasBatch, CanvasMix, draw_batch
from intarsia_research.training.trainable_adapter import TrainableAdapter

NUM_OFFSETS = 5
"""The first rows of a draft: each has its own accuracy among the figures."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighting:
    """``soft``: share of the backbone's distribution in the target. ``before_head``: weight of the
    loss before the sampler head is applied, because those logits rank the head's candidates."""

    soft: float = 0.7
    before_head: float = 0.4


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasTaskOptions:
    """``rank`` of the low-rank matrices; ``seed`` of their initial values."""

    rank: int
    seed: int
    mix: CanvasMix = field(default_factory=CanvasMix)
    weighting: Weighting = field(default_factory=Weighting)


class CanvasTask:
    """The gated adapter of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: AdaptedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        options: CanvasTaskOptions,
    ) -> None:
        adapter = TrainableAdapter(backbone.shape, rank=options.rank, seed=options.seed)
        self.module = adapter.to(backbone.device)
        self._backbone = backbone
        self._fim = fim
        self._vocabulary = vocabulary
        self._mix = options.mix
        self._weighting = options.weighting

    def start_from(self, path: Path) -> None:
        """Load an adapter's file; a sampler head that it lacks keeps its initial values."""
        load_tensors(self.module.named_tensors(), path, optional_prefixes=("head.",))

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the adapter."""
        save_tensors(self.module.named_tensors(), path, metadata=metadata)

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss on canvases drawn over these holes."""
        batch = self._draw(holes, rng)
        return PassLoss(loss=self._predict(batch).loss, num_tokens=batch.num_rows)

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the loss, ``accuracy_0`` … (how often the row at this offset of a draft agrees
        with the backbone), and ``kept`` (accepted tokens a draft)."""
        losses, num_accepted, num_drafts = [], 0.0, 0
        hits, rows = torch.zeros(NUM_OFFSETS), torch.zeros(NUM_OFFSETS)
        for holes in batches:
            batch = self._draw(holes, rng)
            predictions = self._predict(batch)
            losses.append(float(predictions.loss))
            is_scored = predictions.is_scored
            counted = batch.is_draft[is_scored] & batch.has_teacher[is_scored]
            is_hit = (predictions.logits.argmax(-1) == predictions.teacher.argmax(-1))[counted]
            depths = batch.row_depths[is_scored][counted]
            for offset in range(NUM_OFFSETS):
                hits[offset] += is_hit[depths == offset].sum().cpu()
                rows[offset] += (depths == offset).sum().cpu()
            canvases = _canvas_keys(batch)[is_scored][counted]
            accepted = _count_accepted(canvases.tolist(), is_hit.tolist())
            num_accepted, num_drafts = num_accepted + accepted[0], num_drafts + accepted[1]
        accuracy = (hits / rows.clamp(min=1)).tolist()
        return {
            "loss": sum(losses) / len(losses),
            "kept": num_accepted / max(1, num_drafts),
            **{f"accuracy_{offset}": share for offset, share in enumerate(accuracy)},
        }

    def _draw(self, holes: Sequence[HoleIds], rng: random.Random) -> CanvasBatch:
        return draw_batch(holes, self._mix, self._fim, rng).to(self._backbone.device)

    def _predict(self, batch: CanvasBatch) -> "_Predictions":
        backbone, output = self._backbone, self._vocabulary.output
        adapter = self.module.as_adapter(backbone.dtype)
        prefilled = backbone.prefill(batch.ids)
        hidden = backbone.forward_adapted(batch, prefilled, adapter.layers, mask=adapter.mask)
        is_scored = (batch.targets >= 0) & (batch.weights > 0)
        scored, has_teacher = hidden[is_scored], batch.has_teacher[is_scored]
        own = F.embedding(_own_tokens(batch)[is_scored], backbone.weights.embed)
        assert adapter.head is not None, "an adapter in training has a head"
        logits = F.linear(adapter.head(scored, own), output).float()
        before_head = F.linear(scored, output).float()
        teacher = _teacher(batch, prefilled, is_scored, output)
        targets = self._vocabulary.indexes_of(batch.targets[is_scored])
        target = _MixedTarget(teacher, has_teacher, targets, self._weighting.soft)
        extra = self._weighting.before_head
        losses = target.cross_entropy(logits) + extra * target.cross_entropy(before_head)
        weights = batch.weights[is_scored]
        loss = (losses * weights).sum() / weights.sum() / (1 + extra)
        return _Predictions(loss=loss, logits=logits.detach(), teacher=teacher, is_scored=is_scored)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Predictions:
    """What the scored rows of a batch predict."""

    loss: Tensor  # ()
    logits: Tensor  # (scored, used)
    teacher: Tensor  # (scored, used): the backbone's distribution
    is_scored: Tensor  # (holes, rows) bool


@dataclass(frozen=True, slots=True, eq=False)
class _MixedTarget:
    """The backbone's distribution (``soft`` of it, where it is known) and the true token."""

    teacher: Tensor  # (rows, used)
    has_teacher: Tensor  # (rows,) bool
    targets: Tensor  # (rows,) long
    soft: float

    def cross_entropy(self, logits: Tensor) -> Tensor:
        """Return the cross entropy of each row, (rows,)."""
        log_p = F.log_softmax(logits, dim=-1)
        hard = -log_p.gather(-1, self.targets[:, None]).squeeze(-1)
        taught = -(self.teacher * log_p).sum(-1)
        share = self.soft * self.has_teacher
        return share * taught + (1 - share) * hard


def _own_tokens(batch: CanvasBatch) -> Tensor:
    """Return the true token at each row's own position, (holes, rows)."""
    return batch.ids.gather(1, batch.row_positions.clamp(max=batch.ids.shape[1] - 1))


@torch.no_grad()
def _teacher(batch: CanvasBatch, prefilled: Prefilled, is_scored: Tensor, output: Tensor) -> Tensor:
    """Return the backbone's distribution over the used tokens for each scored row (scored, used).

    The plain backbone row at the same position knows its own token and predicts the same one.
    """
    length = batch.ids.shape[1]
    holes = torch.arange(len(batch.ids), device=batch.ids.device)[:, None]
    rows = (holes * length + batch.row_positions.clamp(max=length - 1))[is_scored]
    # Several canvases share a row of text: its distribution is computed once.
    unique, inverse = torch.unique(rows, return_inverse=True)
    teacher = F.linear(prefilled.hidden.flatten(0, 1)[unique], output).float().softmax(-1)
    return teacher[inverse]


def _canvas_keys(batch: CanvasBatch) -> Tensor:
    """Return a number for the canvas of each row (holes, rows)."""
    holes = torch.arange(len(batch.ids), device=batch.ids.device)[:, None]
    return holes * (batch.row_canvases.max() + 1) + batch.row_canvases


def _count_accepted(canvases: list[int], is_hit: list[bool]) -> tuple[int, int]:
    """Return how many rows are right before a canvas's first wrong one, and how many canvases."""
    num_accepted = 0
    failed: set[int] = set()
    seen: set[int] = set()
    for canvas, hit in zip(canvases, is_hit, strict=True):
        seen.add(canvas)
        if not hit:
            failed.add(canvas)
        elif canvas not in failed:
            num_accepted += 1
    return num_accepted, len(seen)
