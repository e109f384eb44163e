"""How a token is taken from each position's distribution: probabilities come in, ids go out."""

import torch
from torch import Tensor


def draw(probabilities: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one id at each position at random."""
    return torch.multinomial(probabilities, num_samples=1, generator=generator).squeeze(-1)


def take_likeliest(probabilities: Tensor, generator: torch.Generator) -> Tensor:
    """Take the likeliest id at each position; the generator is left untouched."""
    return probabilities.argmax(dim=-1)
