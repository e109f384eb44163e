"""Trains a tuning of a causal backbone: fill holes as editors have them, and end where they end.

Low-rank changes act on every row. The loss is on the hole's own tokens and on its end: a backbone
that never saw an editor's holes writes past their end.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import NO_PROJECT, FimIds
from intarsia.training.batched_backbone import BatchedBackbone
from intarsia.training.lay_out import Shown, lay_out
from intarsia.training.packed_holes import HoleIds
from intarsia.training.low_rank_pairs import LowRankPairs
from intarsia.training.task import LowRankTask, PassLoss
from intarsia.training.vocabulary import UsedVocabulary


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningMix:
    """How much of a hole and its file is shown, in tokens; code of other files is shown whole."""

    max_prefix: int = 144
    max_suffix: int = 64
    max_middle: int = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningTaskOptions:
    """``rank`` of the low-rank matrices; ``seed`` of their initial values; ``strength``: the share
    of the changes that is written."""

    rank: int
    seed: int
    mix: TuningMix = field(default_factory=TuningMix)
    strength: float = 1.0


class TuningTask(LowRankTask):
    """The low-rank tuning of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: BatchedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        options: TuningTaskOptions,
    ) -> None:
        generator = torch.Generator().manual_seed(options.seed)
        self.module = LowRankPairs(backbone.shape, rank=options.rank, generator=generator)
        self.module.to(backbone.device)
        self._backbone = backbone
        self._fim = fim
        self._vocabulary = vocabulary
        self._mix = options.mix
        super().__init__(self.module, options.strength)

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss on these holes; ``rng`` is not used."""
        predictions = self._predict(holes)
        return PassLoss(loss=predictions.losses.mean(), num_tokens=len(predictions.losses))

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return the mean loss a token, the accuracy of all tokens and of ends, and ``whole``: the
        share of holes with no wrong token. Each token is predicted after the true ones.

        If some holes read code of other files, they are figures of their own (``project_…``), as
        are those holes without that code (``project_unread_…``) and all others (``alone_…``).
        """
        size = max(map(len, batches))
        holes = sorted((hole for batch in batches for hole in batch), key=len)
        alone = [hole for hole in holes if not hole.project]
        reading = [hole for hole in holes if hole.project]
        unread = [replace(hole, project=NO_PROJECT) for hole in reading]
        parts = {"alone": alone, "project": reading, "project_unread": unread}
        predicted = {name: self._predict_all(part, size) for name, part in parts.items()}
        figures = _figures([*predicted["alone"], *predicted["project"]])
        if reading:
            for name, predictions in predicted.items():
                named = _figures(predictions) if predictions else {}
                figures |= {f"{name}_{key}": value for key, value in named.items()}
        return figures

    def _predict_all(self, holes: Sequence[HoleIds], size: int) -> "list[_Predictions]":
        return [self._predict(holes[at : at + size]) for at in range(0, len(holes), size)]

    def _predict(self, holes: Sequence[HoleIds]) -> "_Predictions":
        ids, is_scored = self._lay_out(holes)
        hidden = self._backbone.forward_tuned(ids, self.module.as_layers(self._backbone.dtype))
        logits = F.linear(hidden[:, :-1][is_scored], self._vocabulary.output).float()
        tokens = ids[:, 1:][is_scored]
        targets = self._vocabulary.indexes_of(tokens)
        indexes = torch.arange(len(ids), device=ids.device)[:, None].expand_as(is_scored)
        return _Predictions(
            losses=F.cross_entropy(logits, targets, reduction="none"),
            is_hit=logits.argmax(-1) == targets,
            is_end=tokens == self._fim.end,
            holes=indexes[is_scored],
            num_holes=len(holes),
        )

    def _lay_out(self, holes: Sequence[HoleIds]) -> tuple[Tensor, Tensor]:
        """Return the ids (holes, length), and which positions predict a token of the hole or its
        end (holes, length - 1)."""
        mix = self._mix
        shown = Shown(prefix=mix.max_prefix, suffix=mix.max_suffix, middle=mix.max_middle)
        laid_out = [lay_out(hole, self._fim, shown) for hole in holes]
        texts = [one.ids for one in laid_out]
        spans = [(one.given_end - 1, len(one.ids) - 1) for one in laid_out]
        length = max(map(len, texts))
        ids = torch.tensor([[*text, *[self._fim.end] * (length - len(text))] for text in texts])
        positions = torch.arange(length - 1)
        is_scored = torch.stack([(positions >= start) & (positions < end) for start, end in spans])
        return ids.to(self._backbone.device), is_scored.to(self._backbone.device)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Predictions:
    """What is predicted at the holes' tokens, (scored,) each."""

    losses: Tensor
    is_hit: Tensor
    is_end: Tensor
    holes: Tensor  # the hole's index in its batch
    num_holes: int


def _figures(predictions: "Sequence[_Predictions]") -> dict[str, float]:
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
