"""What the gated adapter learns: to name, from a canvas, what the backbone would name.

The backbone's distributions are in the same pass for nothing: soft targets, mixed with what really
stands there.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.fim_tokenizer import FimIds
from intarsia.research.training.adapter_file import load_numbers, save_numbers
from intarsia.research.training.batched_backbone import BatchedBackbone, FrozenPass
from intarsia.research.training.canvas_batch import CanvasBatch, CanvasMix, draw_batch
from intarsia.research.training.packed_holes import HoleIds
from intarsia.research.training.task import PassLoss
from intarsia.research.training.trainable_adapter import TrainableAdapter
from intarsia.research.training.vocabulary import UsedVocabulary

NUM_OFFSETS = 5
"""Of a proposal: how far its rows are looked at for figures."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighting:
    """How much of the target is the backbone's distribution, and how much of the loss is that of
    the rows as they are, before the serial head puts them right (which ranks its candidates)."""

    soft: float = 0.7
    before_head: float = 0.4


class CanvasTask:
    """The gated adapter of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: BatchedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        *,
        rank: int,
        seed: int,
        mix: CanvasMix,
        weighting: Weighting,
    ) -> None:
        self.module = TrainableAdapter(backbone.shape, rank=rank, seed=seed).to(backbone.device)
        self._backbone = backbone
        self._fim = fim
        self._vocabulary = vocabulary
        self._mix = mix
        self._weighting = weighting

    def start_from(self, path: Path) -> None:
        """Go on from an adapter's file; a head that it lacks begins as nothing."""
        load_numbers(self.module.named(), path, may_lack=("head.",))

    def save(self, path: Path, *, about: dict[str, str]) -> None:
        """Write the adapter."""
        save_numbers(self.module.named(), path, about=about)

    def learn(self, holes: Sequence[HoleIds], chosen: random.Random) -> PassLoss:
        """Return the loss on canvases drawn over these holes."""
        batch = draw_batch(holes, self._mix, self._fim, chosen).to(self._backbone.device)
        said = self._say(batch)
        return PassLoss(loss=said.loss, num_tokens=batch.num_rows)

    def judge(
        self, batches: Sequence[Sequence[HoleIds]], chosen: random.Random
    ) -> dict[str, float]:
        """Return the loss, how often a proposal's rows name what the backbone would (by offset),
        and how many tokens of a proposal would be kept."""
        losses, kept, num_proposals = [], 0.0, 0
        hits, rows = torch.zeros(NUM_OFFSETS), torch.zeros(NUM_OFFSETS)
        for holes in batches:
            batch = draw_batch(holes, self._mix, self._fim, chosen).to(self._backbone.device)
            said = self._say(batch)
            losses.append(float(said.loss))
            counted = batch.is_proposal[said.is_asked] & batch.is_taught[said.is_asked]
            is_hit = (said.logits.argmax(-1) == said.wanted.argmax(-1))[counted]
            depths = batch.row_depths[said.is_asked][counted]
            for offset in range(NUM_OFFSETS):
                hits[offset] += is_hit[depths == offset].sum().cpu()
                rows[offset] += (depths == offset).sum().cpu()
            canvases = _canvas_keys(batch)[said.is_asked][counted]
            num_kept, num_canvases = _kept(canvases.tolist(), is_hit.tolist())
            kept, num_proposals = kept + num_kept, num_proposals + num_canvases
        accuracy = (hits / rows.clamp(min=1)).tolist()
        return {
            "loss": sum(losses) / len(losses),
            "kept": kept / max(1, num_proposals),
            **{f"accuracy_{offset}": share for offset, share in enumerate(accuracy)},
        }

    def _say(self, batch: CanvasBatch) -> "_Said":
        backbone, output = self._backbone, self._vocabulary.output
        adapter = self.module.in_use(backbone.dtype)
        read = backbone.read(batch.ids)
        hidden = backbone.canvases(batch, read, adapter)
        is_asked = (batch.targets >= 0) & (batch.weights > 0)
        asked, is_taught = hidden[is_asked], batch.is_taught[is_asked]
        own = F.embedding(_own_tokens(batch)[is_asked], backbone.weights.embed)
        assert adapter.head is not None, "an adapter in training has a head"
        logits = F.linear(adapter.head(asked, own), output).float()
        plain = F.linear(asked, output).float()
        wanted = _wanted(batch, read, is_asked, output)
        targets, soft = self._vocabulary.places(batch.targets[is_asked]), self._weighting.soft
        before = self._weighting.before_head
        losses = _cross_entropy(logits, wanted, is_taught, targets, soft)
        losses = losses + before * _cross_entropy(plain, wanted, is_taught, targets, soft)
        weights = batch.weights[is_asked]
        loss = (losses * weights).sum() / weights.sum() / (1 + before)
        return _Said(loss=loss, logits=logits.detach(), wanted=wanted, is_asked=is_asked)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Said:
    """A batch's rows that were asked, and what they said."""

    loss: Tensor  # ()
    logits: Tensor  # (asked, used)
    wanted: Tensor  # (asked, used): the backbone's distribution
    is_asked: Tensor  # (holes, rows) bool


def _own_tokens(batch: CanvasBatch) -> Tensor:
    """Return the true token at each row's own position, (holes, rows)."""
    return batch.ids.gather(1, batch.row_positions.clamp(max=batch.ids.shape[1] - 1))


@torch.no_grad()
def _wanted(batch: CanvasBatch, read: FrozenPass, is_asked: Tensor, output: Tensor) -> Tensor:
    """Return the backbone's distribution over the used tokens for each asked row (asked, used): the
    frozen row at the same position sees the row's own token, and names the same."""
    length = batch.ids.shape[1]
    holes = torch.arange(len(batch.ids), device=batch.ids.device)[:, None]
    places = (holes * length + batch.row_positions.clamp(max=length - 1))[is_asked]
    # Several canvases ask about one row of text: its distribution is worked out once.
    unique, inverse = torch.unique(places, return_inverse=True)
    wanted = F.linear(read.hidden.flatten(0, 1)[unique], output).float().softmax(-1)
    return wanted[inverse]


def _cross_entropy(
    logits: Tensor, wanted: Tensor, is_taught: Tensor, targets: Tensor, soft: float
) -> Tensor:
    """Return the cross entropy of each row (rows,) with its mixed target."""
    log_p = F.log_softmax(logits, dim=-1)
    hard = -log_p.gather(-1, targets[:, None]).squeeze(-1)
    taught = -(wanted * log_p).sum(-1)
    share = soft * is_taught
    return share * taught + (1 - share) * hard


def _canvas_keys(batch: CanvasBatch) -> Tensor:
    """Return a number for the canvas of each row (holes, rows)."""
    holes = torch.arange(len(batch.ids), device=batch.ids.device)[:, None]
    return holes * (batch.row_canvases.max() + 1) + batch.row_canvases


def _kept(canvases: list[int], is_hit: list[bool]) -> tuple[int, int]:
    """Return how many rows are right before a canvas's first wrong one, in how many canvases."""
    kept = 0
    failed: set[int] = set()
    seen: set[int] = set()
    for canvas, hit in zip(canvases, is_hit, strict=True):
        seen.add(canvas)
        if not hit:
            failed.add(canvas)
        elif canvas not in failed:
            kept += 1
    return kept, len(seen)
