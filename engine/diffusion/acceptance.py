"""Which sampled tokens a denoising step accepts, and when a canvas is done.

Accepted are those that are nearly independent: entropy-bounded unmasking (arXiv 2505.24857). Given
text takes no part: a bound that accepts k free tokens does so with any amount of it around them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.prediction import Draft, Prediction

Stop: TypeAlias = Callable[[TokenCanvas, Sequence[Draft]], bool]
"""(canvas after the step, drafts of all steps, the last one included) → whether it is done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StableAndConfident:
    """Stop once the free positions have not changed for some steps and have a low mean entropy."""

    stability_threshold: int  # earlier drafts that must equal this one; 0: none
    confidence_threshold: float  # nats

    def __post_init__(self) -> None:
        if self.stability_threshold < 0:
            raise ValueError(f"stability threshold must be >= 0, got {self.stability_threshold}")
        if not self.confidence_threshold > 0:
            raise ValueError(f"confidence threshold must be > 0, got {self.confidence_threshold}")

    def __call__(self, canvas: TokenCanvas, drafts: Sequence[Draft]) -> bool:
        is_free = canvas.is_free
        if not is_free.any():
            return True
        return self._is_stable(drafts) and bool(
            drafts[-1].entropies[is_free].mean() < self.confidence_threshold
        )

    def _is_stable(self, drafts: Sequence[Draft]) -> bool:
        earlier = drafts[:-1][-self.stability_threshold :] if self.stability_threshold else ()
        return len(earlier) == self.stability_threshold and all(
            torch.equal(draft.ids, drafts[-1].ids) for draft in earlier
        )


Accept: TypeAlias = Callable[[TokenCanvas, Prediction], Tensor]
"""(canvas, prediction) → is_accepted (length,) bool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptAmongFree:
    """Choose among all free positions in every step: the model may revise."""

    entropy_bound: float  # nats

    def __post_init__(self) -> None:
        if not self.entropy_bound >= 0:
            raise ValueError(f"entropy bound must be 0 or more nats, got {self.entropy_bound}")

    def __call__(self, canvas: TokenCanvas, prediction: Prediction) -> Tensor:
        return within_entropy_bound(prediction.entropies, canvas.is_free, self.entropy_bound)


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
