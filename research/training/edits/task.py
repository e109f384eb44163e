"""Trains the edit adapter: low-rank changes to the rows of the prompt and of the answer only.

The window before them is read by the plain backbone, so that its keys and values serve scores and
suggestions too (activated LoRA, arXiv 2504.12397).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimIds
from intarsia_research.training.adapter_file import load_tensors, save_tensors
from intarsia_research.training.batched_backbone import BatchedBackbone
from intarsia_research.training.edits.batch import lay_out_edits
from intarsia_research.training.holes.packed_holes import HoleIds
from intarsia_research.training.low_rank_pairs import LowRankPairs
from intarsia_research.training.task import PassLoss
from intarsia_research.training.vocabulary import UsedVocabulary


class EditTask:
    """The edit adapter of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: BatchedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        *,
        rank: int,
        seed: int,
    ) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.module = LowRankPairs(backbone.shape, rank=rank, generator=generator)
        self.module.to(backbone.device)
        self._backbone = backbone
        self._fim = fim
        self._vocabulary = vocabulary

    def start_from(self, path: Path) -> None:
        """Load the adapter of an earlier run. Raises ModelError."""
        load_tensors(self.module.named_tensors(), path)

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the adapter."""
        save_tensors(self.module.named_tensors(), path, metadata=metadata)

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss on these examples; ``rng`` is not used."""
        predictions = self._predict(holes)
        weights = predictions.weights
        loss = (predictions.losses * weights).sum() / weights.sum()
        return PassLoss(loss=loss, num_tokens=len(weights))

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the mean loss a token, and how often a whole answer is right, token by token after
        the true ones: ``corrected`` of the lines that change, ``left_alone`` of the others."""
        predicted = [self._predict(batch) for batch in batches]
        losses = torch.cat([each.losses for each in predicted])
        weights = torch.cat([each.weights for each in predicted])
        is_right = torch.cat([each.is_right for each in predicted])
        is_changed = torch.cat([each.is_changed for each in predicted])
        return {
            "loss": float((losses * weights).sum() / weights.sum()),
            "corrected": _share(is_right[is_changed]),
            "left_alone": _share(is_right[~is_changed]),
        }

    def _predict(self, examples: Sequence[HoleIds]) -> "_Predictions":
        backbone = self._backbone
        batch = lay_out_edits(examples, self._fim).to(backbone.device)
        hidden = backbone.forward_adapted(
            batch, backbone.prefill(batch.ids), self.module.as_layers(backbone.dtype)
        )
        is_scored = batch.targets >= 0
        logits = F.linear(hidden[is_scored], self._vocabulary.output).float()
        targets = self._vocabulary.indexes_of(batch.targets[is_scored])
        is_hit = torch.ones_like(is_scored)
        is_hit[is_scored] = logits.argmax(-1) == targets
        return _Predictions(
            losses=F.cross_entropy(logits, targets, reduction="none"),
            weights=batch.weights[is_scored],
            is_right=is_hit.all(-1),
            is_changed=batch.is_changed,
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Predictions:
    """What is predicted of the answers' tokens, and of whole answers."""

    losses: Tensor  # (tokens,)
    weights: Tensor  # (tokens,)
    is_right: Tensor  # (examples,) bool
    is_changed: Tensor  # (examples,) bool


def _share(is_right: Tensor) -> float:
    return float(is_right.float().mean()) if len(is_right) else 0.0
