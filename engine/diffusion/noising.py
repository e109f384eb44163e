"""Choose which tokens of a draft are masked or noised before it is rewritten.

Works on positions and probabilities. Knows no ids and no model.
"""

import torch
from torch import Tensor


def num_noised(num_tokens: int, noise: float) -> int:
    """Return the number of tokens in this share: at least one, so that a rewrite may change it."""
    return min(num_tokens, max(1, round(noise * num_tokens)))


def least_sure(
    log_probabilities: Tensor, noise: float, *, temperature: float, generator: torch.Generator
) -> set[int]:
    """Return the positions of the least likely tokens (log_probabilities: (length,)).

    Above ``temperature`` 0, Gumbel noise of that scale is added to the log-probabilities.
    """
    ranks = log_probabilities + temperature * gumbel(len(log_probabilities), generator)
    count = num_noised(len(log_probabilities), noise)
    return set(ranks.argsort(stable=True)[:count].tolist())


def any_of(num_tokens: int, noise: float, generator: torch.Generator) -> set[int]:
    """Return this share of the positions, drawn at random (for uniform-state diffusion)."""
    order = torch.randperm(num_tokens, generator=generator, device=generator.device)
    return set(order[: num_noised(num_tokens, noise)].tolist())


def gumbel(length: int, generator: torch.Generator) -> Tensor:
    """Return Gumbel noise (length,) on the CPU.

    The argmax of log-probabilities with this noise added is a sample from them.
    """
    uniform = torch.rand(length, generator=generator, dtype=torch.float64)
    return -(-uniform.clamp(1e-12, 1 - 1e-12).log()).log().float()
