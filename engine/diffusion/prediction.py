"""The prediction of one forward pass at every canvas position, and the draft that follows from it.

Given text is certain: its logits are one-hot, so its entropy is 0 and the self-conditioning agrees
with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas


def draw(probabilities: Tensor, generator: torch.Generator) -> Tensor:
    """Sample one id at each position."""
    return torch.multinomial(probabilities, num_samples=1, generator=generator).squeeze(-1)


def take_likeliest(probabilities: Tensor, generator: torch.Generator) -> Tensor:
    """Choose the likeliest id at each position; the generator is not used."""
    return probabilities.argmax(dim=-1)


Sample: TypeAlias = Callable[[Tensor, torch.Generator], Tensor]
"""Probabilities (length, vocab) → ids (length,)."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Prediction:
    """The predicted x0, as distributions and as ids."""

    logits: Tensor  # (length, vocab) float32, after temperature: the next step's self-conditioning
    probabilities: Tensor  # (length, vocab)
    entropies: Tensor  # (length,) nats
    sampled: Tensor  # (length,) long
    likeliest: Tensor  # (length,) long

    def confidence_of(self, ids: Tensor) -> Tensor:
        """Return the probability of one id at each position, (length,)."""
        return self.probabilities.gather(-1, ids[:, None]).squeeze(-1)


def read_logits(
    logits: Tensor,
    canvas: TokenCanvas,
    *,
    temperature: float,
    sample: Sample,
    generator: torch.Generator,
) -> Prediction:
    """Return the prediction of logits (length, vocab)."""
    logits = logits.float() / temperature
    fixed = canvas.is_fixed.nonzero().squeeze(-1)
    logits[fixed] = -torch.inf
    logits[fixed, canvas.ids[fixed]] = 0.0
    probabilities = torch.softmax(logits, dim=-1)
    return Prediction(
        logits=logits,
        probabilities=probabilities,
        entropies=torch.special.entr(probabilities).sum(dim=-1),
        sampled=sample(probabilities, generator),
        likeliest=logits.argmax(dim=-1),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Draft:
    """The whole answer, every position of the canvas: a deadline can return it after any step."""

    ids: Tensor  # (length,) long
    confidences: Tensor  # (length,) probability of each id when it was chosen
    entropies: Tensor  # (length,) nats of the distribution it was chosen from


def draft_likeliest(canvas: TokenCanvas, prediction: Prediction) -> Draft:
    """Choose the likeliest token at every free position: nothing is final before the end."""
    ids = torch.where(canvas.is_fixed, canvas.ids, prediction.likeliest)
    return Draft(ids=ids, confidences=prediction.confidence_of(ids), entropies=prediction.entropies)
