"""Which sampled tokens are accepted in one step: those that are nearly independent of each other.

Canvas and prediction come in, a mark at each accepted position goes out. Given text takes no part:
a bound that accepts k free tokens accepts the same k however much given text stands around them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.hole_end import FindEnd, is_before_end, no_end
from intarsia.engine.diffusion.prediction import Prediction

Accept: TypeAlias = Callable[[TokenCanvas, Prediction], Tensor]
"""(canvas, prediction) → is_accepted (length,) bool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptAmongFree:
    """Judge all free positions anew in every step: the model may revise (uniform-state)."""

    entropy_bound: float

    def __post_init__(self) -> None:
        _check_bound(self.entropy_bound)

    def __call__(self, canvas: TokenCanvas, prediction: Prediction) -> Tensor:
        return within_entropy_bound(prediction.entropies, canvas.is_free, self.entropy_bound)


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptAmongMasked:
    """Judge the positions still masked, up to the predicted end of the hole (masked diffusion).

    The one of lowest entropy is always accepted, so that every step makes progress.
    """

    entropy_bound: float
    find_end: FindEnd = no_end

    def __post_init__(self) -> None:
        _check_bound(self.entropy_bound)

    def __call__(self, canvas: TokenCanvas, prediction: Prediction) -> Tensor:
        is_open = _is_open(canvas, prediction, self.find_end)
        return within_entropy_bound(prediction.entropies, is_open, self.entropy_bound)


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptFromLeft:
    """Judge masked positions up to the predicted end, from the first on (masked diffusion).

    Where a causal path judges leading tokens, these are the surest; a token settled far ahead by a
    weak adapter binds what stands before it. The first one is always accepted.
    """

    entropy_bound: float
    find_end: FindEnd = no_end

    def __post_init__(self) -> None:
        _check_bound(self.entropy_bound)

    def __call__(self, canvas: TokenCanvas, prediction: Prediction) -> Tensor:
        is_open = _is_open(canvas, prediction, self.find_end)
        spent = torch.where(is_open, prediction.entropies, 0.0).cumsum(dim=0)
        first = spent[is_open][:1]  # the first one's own entropy is free of charge
        return is_open & (spent - first <= self.entropy_bound) if len(first) else is_open


def _is_open(canvas: TokenCanvas, prediction: Prediction, find_end: FindEnd) -> Tensor:
    """Mark what is still masked and stands before the predicted end of the hole."""
    is_known = canvas.is_fixed | canvas.is_settled
    predicted = torch.where(is_known, canvas.ids, prediction.likeliest)
    return ~is_known & is_before_end(predicted, find_end)


def within_entropy_bound(entropies: Tensor, is_candidate: Tensor, bound: float) -> Tensor:
    """Accept candidates from the lowest entropy on, while the sum before each is within the bound.

    https://arxiv.org/abs/2505.24857: sum minus maximum bounds the tokens' joint mutual information.
    With a bound of 0 or more the first candidate always passes.
    """
    candidates = is_candidate.nonzero().squeeze(-1)
    ordered, order = torch.sort(entropies[candidates])
    is_within = ordered.cumsum(dim=0) - ordered <= bound
    is_accepted = torch.zeros_like(is_candidate)
    is_accepted[candidates[order]] = is_within
    return is_accepted


def _check_bound(entropy_bound: float) -> None:
    if not entropy_bound >= 0:
        raise ValueError(f"entropy bound must be 0 or more nats, got {entropy_bound}")
