"""Which sampled tokens a denoising step accepts: those that are nearly independent.

This is entropy-bounded unmasking (arXiv 2505.24857). Given text takes no part: a bound that
accepts k free tokens accepts the same k with any amount of given text around them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.prediction import Prediction
from intarsia.engine.diffusion.stopping import EndPosition, is_before_end, no_end

Accept: TypeAlias = Callable[[TokenCanvas, Prediction], Tensor]
"""(canvas, prediction) → is_accepted (length,) bool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _EntropyBound:
    entropy_bound: float  # nats

    def __post_init__(self) -> None:
        if not self.entropy_bound >= 0:
            raise ValueError(f"entropy bound must be 0 or more nats, got {self.entropy_bound}")


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptAmongFree(_EntropyBound):
    """Choose among all free positions in every step: the model may revise (uniform-state)."""

    def __call__(self, canvas: TokenCanvas, prediction: Prediction) -> Tensor:
        return within_entropy_bound(prediction.entropies, canvas.is_free, self.entropy_bound)


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptFromLeft(_EntropyBound):
    """Choose masked positions from the left up to the predicted end (masked diffusion).

    On a causal backbone the leading tokens are the surest. A token that a weak adapter unmasks far
    ahead would bind the tokens before it. The first masked position is always accepted.
    """

    end_position: EndPosition = no_end

    def __call__(self, canvas: TokenCanvas, prediction: Prediction) -> Tensor:
        is_known = canvas.is_fixed | canvas.is_accepted
        predicted = torch.where(is_known, canvas.ids, prediction.likeliest)
        is_open = ~is_known & is_before_end(predicted, self.end_position)
        spent = torch.where(is_open, prediction.entropies, 0.0).cumsum(dim=0)
        first = spent[is_open][:1]  # the entropy of the first position is not counted
        return is_open & (spent - first <= self.entropy_bound) if len(first) else is_open


def within_entropy_bound(entropies: Tensor, is_candidate: Tensor, bound: float) -> Tensor:
    """Accept candidates in order of entropy while the sum before each is within the bound (nats).

    The sum minus the maximum bounds the tokens' joint mutual information
    (https://arxiv.org/abs/2505.24857). With a bound of 0 or more the first candidate is accepted.
    """
    candidates = is_candidate.nonzero().squeeze(-1)
    ordered, order = torch.sort(entropies[candidates])
    is_within = ordered.cumsum(dim=0) - ordered <= bound
    is_accepted = torch.zeros_like(is_candidate)
    is_accepted[candidates[order]] = is_within
    return is_accepted
