"""The next canvas: given and accepted tokens are written, the rest is renoised or stays masked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.prediction import Prediction

Renew: TypeAlias = Callable[[TokenCanvas, Prediction, Tensor, Generator], TokenCanvas]
"""(canvas, prediction, is_accepted, generator) → the canvas of the next step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Renoise:
    """Put uniform noise at every free position that this step did not accept."""

    vocab_size: int

    def __call__(
        self, canvas: TokenCanvas, prediction: Prediction, is_accepted: Tensor, generator: Generator
    ) -> TokenCanvas:
        noise = torch.randint(
            self.vocab_size, canvas.ids.shape, generator=generator, device=canvas.ids.device
        )
        xt = torch.where(is_accepted, prediction.sampled, noise)
        return TokenCanvas(
            ids=torch.where(canvas.is_fixed, canvas.ids, xt),
            is_fixed=canvas.is_fixed,
            is_accepted=is_accepted & canvas.is_free,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Remask:
    """Unmask accepted tokens; remask earlier ones that fell below ``min_confidence``.

    A step remasks fewer tokens than it accepts: the number of masks falls, so the loop ends.
    ``min_confidence`` 0 remasks nothing.
    """

    mask_id: int
    min_confidence: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.min_confidence < 1:
            raise ValueError(f"min_confidence must be in [0, 1), got {self.min_confidence}")

    def __call__(
        self, canvas: TokenCanvas, prediction: Prediction, is_accepted: Tensor, generator: Generator
    ) -> TokenCanvas:
        is_unmasked = is_accepted & canvas.is_free & ~canvas.is_accepted
        num_remasks = max(int(is_unmasked.sum()) - 1, 0)
        is_now_accepted = (canvas.is_accepted | is_unmasked) & ~self._lost(
            canvas, prediction, num_remasks
        )
        xt = torch.where(is_unmasked, prediction.sampled, canvas.ids)
        is_masked = canvas.is_free & ~is_now_accepted
        return TokenCanvas(
            ids=torch.where(is_masked, self.mask_id, xt),
            is_fixed=canvas.is_fixed,
            is_accepted=is_now_accepted,
        )

    def _lost(self, canvas: TokenCanvas, prediction: Prediction, max_lost: int) -> Tensor:
        confidences = prediction.confidence_of(canvas.ids)
        is_unsure = canvas.is_accepted & canvas.is_free & (confidences < self.min_confidence)
        unsure = is_unsure.nonzero().squeeze(-1)
        is_lost = torch.zeros_like(is_unsure)
        is_lost[unsure[confidences[unsure].argsort()[:max_lost]]] = True
        return is_lost


def num_noised(num_tokens: int, noise: float) -> int:
    """Return the number of tokens in this share: at least one, so that a rewrite may change it."""
    return min(num_tokens, max(1, round(noise * num_tokens)))


def least_sure(
    log_probabilities: Tensor, noise: float, *, temperature: float, generator: torch.Generator
) -> set[int]:
    """Return the least likely tokens' positions, after Gumbel noise of scale ``temperature``."""
    ranks = log_probabilities + temperature * gumbel(len(log_probabilities), generator)
    count = num_noised(len(log_probabilities), noise)
    return set(ranks.argsort(stable=True)[:count].tolist())


def any_of(num_tokens: int, noise: float, generator: torch.Generator) -> set[int]:
    """Return this share of the positions, drawn at random (for uniform-state diffusion)."""
    order = torch.randperm(num_tokens, generator=generator, device=generator.device)
    return set(order[: num_noised(num_tokens, noise)].tolist())


def gumbel(length: int, generator: torch.Generator) -> Tensor:
    """Return Gumbel noise (length,): log-probabilities plus it have a sample as their argmax."""
    uniform = torch.rand(length, generator=generator, dtype=torch.float64)
    return -(-uniform.clamp(1e-12, 1 - 1e-12).log()).log().float()
