"""The next canvas: given and accepted tokens are written, the rest is renoised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.noise import num_noised
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


def any_of(num_tokens: int, noise: float, generator: torch.Generator) -> set[int]:
    """Return this share of the positions, drawn at random (for uniform-state diffusion)."""
    order = torch.randperm(num_tokens, generator=generator, device=generator.device)
    return set(order[: num_noised(num_tokens, noise)].tolist())
