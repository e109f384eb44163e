"""What a tuning of the backbone learns: to fill holes as editors have them, and where they end.

Low-rank changes to every row of the causal path; the loss is on the hole's own tokens and on its
end, which a backbone that was never shown an editor's holes runs past.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.fim_tokenizer import FimIds
from intarsia.research.training.adapter_file import load_numbers, save_tuning
from intarsia.research.training.batched_backbone import BatchedBackbone
from intarsia.research.training.low_rank_pairs import LowRankPairs
from intarsia.research.training.packed_holes import HoleIds
from intarsia.research.training.task import PassLoss
from intarsia.research.training.vocabulary import UsedVocabulary


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningMix:
    """What of a hole is shown, in tokens."""

    max_prefix: int = 144
    max_suffix: int = 64
    max_middle: int = 128


class TuningTask:
    """The low-rank tuning of a causal backbone (a TrainingTask)."""

    def __init__(
        self,
        backbone: BatchedBackbone,
        fim: FimIds,
        vocabulary: UsedVocabulary,
        *,
        rank: int,
        seed: int,
        mix: TuningMix,
        strength: float = 1.0,
    ) -> None:
        """``strength``: what share of the changes is written."""
        generator = torch.Generator().manual_seed(seed)
        self.module = LowRankPairs(backbone.shape, rank=rank, generator=generator)
        self.module.to(backbone.device)
        self._backbone = backbone
        self._fim = fim
        self._vocabulary = vocabulary
        self._mix = mix
        self._strength = strength

    def start_from(self, path: Path) -> None:
        """Go on from a tuning's file."""
        load_numbers(self.module.named(), path)

    def save(self, path: Path, *, about: dict[str, str]) -> None:
        """Write the tuning."""
        save_tuning(self.module.named(), path, about=about, strength=self._strength)

    def learn(self, holes: Sequence[HoleIds], chosen: random.Random) -> PassLoss:
        """Return the loss on these holes; nothing is left to chance."""
        said = self._say(holes)
        return PassLoss(loss=said.losses.mean(), num_tokens=len(said.losses))

    def judge(
        self, batches: Sequence[Sequence[HoleIds]], chosen: random.Random
    ) -> dict[str, float]:
        """Return the loss a token, the share of tokens and of ends that are named rightly, and the
        share of holes that are right as a whole, each token after the true ones."""
        all_said = [self._say(holes) for holes in batches]
        losses = torch.cat([said.losses for said in all_said])
        is_hit = torch.cat([said.is_hit for said in all_said])
        is_end = torch.cat([said.is_end for said in all_said])
        wrong = [set(said.holes[~said.is_hit].tolist()) for said in all_said]
        num_holes = sum(len(holes) for holes in batches)
        return {
            "loss": float(losses.mean()),
            "accuracy": float(is_hit.float().mean()),
            "end_accuracy": float(is_hit[is_end].float().mean()),
            "whole": 1 - sum(map(len, wrong)) / num_holes,
        }

    def _say(self, holes: Sequence[HoleIds]) -> "_Said":
        ids, is_asked = self._laid_out(holes)
        hidden = self._backbone.tuned(ids, self.module.in_use(self._backbone.dtype))
        logits = F.linear(hidden[:, :-1][is_asked], self._vocabulary.output).float()
        tokens = ids[:, 1:][is_asked]
        targets = self._vocabulary.places(tokens)
        numbers = torch.arange(len(ids), device=ids.device)[:, None].expand_as(is_asked)
        return _Said(
            losses=F.cross_entropy(logits, targets, reduction="none"),
            is_hit=logits.argmax(-1) == targets,
            is_end=tokens == self._fim.end,
            holes=numbers[is_asked],
        )

    def _laid_out(self, holes: Sequence[HoleIds]) -> tuple[Tensor, Tensor]:
        """Return the ids (holes, length), and which of them, but the last, name a token of the hole
        or its end (holes, length - 1)."""
        mix, fim = self._mix, self._fim
        texts, spans = [], []
        for hole in holes:
            context = [
                fim.before_prefix,
                *hole.prefix[-mix.max_prefix :],
                fim.before_suffix,
                *hole.suffix[: mix.max_suffix],
                fim.before_middle,
                *hole.given,
            ]
            is_whole = len(hole.middle) <= mix.max_middle
            middle = [*hole.middle[: mix.max_middle], *([fim.end] if is_whole else [])]
            texts.append([*context, *middle])
            spans.append((len(context) - 1, len(texts[-1]) - 1))
        length = max(map(len, texts))
        ids = torch.tensor([[*text, *[fim.end] * (length - len(text))] for text in texts])
        places = torch.arange(length - 1)
        is_asked = torch.stack([(places >= first) & (places < last) for first, last in spans])
        return ids.to(self._backbone.device), is_asked.to(self._backbone.device)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Said:
    """What is asked of the holes' tokens, (asked,) each."""

    losses: Tensor
    is_hit: Tensor
    is_end: Tensor
    holes: Tensor  # the number of the hole
