"""Trains a tuning of a causal backbone: fill holes as editors have them, and end where they end.

Low-rank changes act on every row. The loss is on the hole's own tokens and on its end: a backbone
that never saw an editor's holes writes past their end.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimIds
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.tuning import (
    NAMES_IN_FILE,
    LowRankLayer,
    low_rank_layers,
)
from intarsia.engine.families.project_text import NO_PROJECT
from intarsia_research.training.batched_backbone import BatchedBackbone, UsedVocabulary
from intarsia_research.training.low_rank_modules import random_matrix
from intarsia_research.training.low_rank_task import LowRankTask
from intarsia_research.training.packed_holes import HoleIds, lay_out
from intarsia_research.training.train_loop import PassLoss


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningTaskOptions:
    """``rank`` of the low-rank matrices; ``seed`` of their initial values; how many tokens of a
    hole and its file are shown. Code of other files is shown whole."""

    rank: int
    seed: int
    max_prefix: int = 144
    max_suffix: int = 64
    max_middle: int = 192


class TuningTask(LowRankTask):
    """The low-rank tuning of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: BatchedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        options: TuningTaskOptions,
        *,
        strength: float = 1.0,
    ) -> None:
        generator = torch.Generator().manual_seed(options.seed)
        self.module = LowRankPairs(backbone.shape, rank=options.rank, generator=generator)
        self.module.to(backbone.device)
        super().__init__(self.module, strength)
        self._backbone = backbone
        self._fim = fim
        self._vocabulary = vocabulary
        self._options = options

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss on these holes; ``rng`` is not used."""
        predictions = self._predict(holes)
        return PassLoss(loss=predictions.losses.mean(), num_tokens=len(predictions.losses))

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the figures of all holes.

        If some holes read code of other files, they have figures of their own (``project_…``), as
        have those holes without that code (``project_unread_…``) and all others (``alone_…``).
        """
        size = max(map(len, batches))
        holes = [hole for batch in batches for hole in batch]
        reading = [hole for hole in holes if hole.project]
        parts = {
            "alone": [hole for hole in holes if not hole.project],
            "project": reading,
            "project_unread": [replace(hole, project=NO_PROJECT) for hole in reading],
        }
        predicted = {name: self._predict_all(part, size) for name, part in parts.items()}
        figures = figures_of([*predicted["alone"], *predicted["project"]])
        if reading:
            for name, predictions in predicted.items():
                named = figures_of(predictions) if predictions else {}
                figures |= {f"{name}_{key}": value for key, value in named.items()}
        return figures

    def _predict_all(self, holes: Sequence[HoleIds], size: int) -> "list[Predictions]":
        """Predict the tokens of all holes, ``size`` of them in a pass."""
        holes = sorted(holes, key=len)
        return [self._predict(holes[at : at + size]) for at in range(0, len(holes), size)]

    def _predict(self, holes: Sequence[HoleIds]) -> "Predictions":
        ids, is_scored = self._lay_out(holes)
        hidden = self._backbone.forward_tuned(ids, self.module.as_layers(self._backbone.dtype))
        logits = F.linear(hidden[:, :-1][is_scored], self._vocabulary.output).float()
        tokens = ids[:, 1:][is_scored]
        targets = self._vocabulary.indexes_of(tokens)
        indexes = torch.arange(len(ids), device=ids.device)[:, None].expand_as(is_scored)
        return Predictions(
            losses=F.cross_entropy(logits, targets, reduction="none"),
            is_hit=logits.argmax(-1) == targets,
            is_end=tokens == self._fim.end,
            holes=indexes[is_scored],
            num_holes=len(holes),
        )

    def _lay_out(self, holes: Sequence[HoleIds]) -> tuple[Tensor, Tensor]:
        """Return the ids (holes, length), and which positions predict a token of the hole or its
        end (holes, length - 1)."""
        sizes = self._options.max_prefix, self._options.max_suffix, self._options.max_middle
        laid_out = [lay_out(hole, self._fim, *sizes) for hole in holes]
        texts = [one.ids for one in laid_out]
        spans = [(one.given_end - 1, len(one.ids) - 1) for one in laid_out]
        length = max(map(len, texts))
        ids = torch.tensor([[*text, *[self._fim.end] * (length - len(text))] for text in texts])
        positions = torch.arange(length - 1)
        is_scored = torch.stack([(positions >= start) & (positions < end) for start, end in spans])
        return ids.to(self._backbone.device), is_scored.to(self._backbone.device)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Predictions:
    """What is predicted at the holes' tokens, (scored,) each."""

    losses: Tensor
    is_hit: Tensor
    is_end: Tensor
    holes: Tensor  # the hole's index in its batch
    num_holes: int


def figures_of(predictions: Sequence[Predictions]) -> dict[str, float]:
    """Return the figures of ``TuningTask.evaluate``."""
    losses = torch.cat([each.losses for each in predictions])
    is_hit = torch.cat([each.is_hit for each in predictions])
    is_end = torch.cat([each.is_end for each in predictions])
    num_wrong = sum(len(set(each.holes[~each.is_hit].tolist())) for each in predictions)
    return {
        "loss": float(losses.mean()),
        "accuracy": float(is_hit.float().mean()),
        "end_accuracy": float(is_hit[is_end].float().mean()),
        "whole": 1 - num_wrong / sum(each.num_holes for each in predictions),
    }


class LowRankPairs(nn.Module):
    """One pair of matrices a part. They start as a zero change: every ``up`` is zero."""

    def __init__(self, shape: BackboneShape, *, rank: int, generator: torch.Generator) -> None:
        super().__init__()
        self._shape = shape
        self.down = nn.ParameterDict()
        self.up = nn.ParameterDict()
        for layer in range(shape.num_layers):
            for part, matrix in shape.matrices().items():
                name = f"{NAMES_IN_FILE[part]}{layer}"
                self.down[name] = random_matrix(rank, matrix.num_in, generator)
                self.up[name] = nn.Parameter(torch.zeros(matrix.num_out, rank))

    def as_layers(self, dtype: torch.dtype) -> tuple[LowRankLayer, ...]:
        """Return the scaled pairs of each layer; gradients flow back."""
        tensors = {name: tensor.to(dtype) for name, tensor in self.named_tensors().items()}
        return low_rank_layers(tensors, self._shape, "in training")

    def named_tensors(self) -> dict[str, Tensor]:
        """Return all tensors by their names in the file."""
        downs = {f"A.{name}": parameter for name, parameter in self.down.items()}
        return downs | {f"B.{name}": parameter for name, parameter in self.up.items()}
