"""Which tokens of a draft lose their place: a share is masked or noised, the others stay.

The number of tokens and a share come in (or how sure each token is), positions go out. Knows no ids
and no model.
"""

import torch
from torch import Tensor


def num_noised(num_tokens: int, noise: float) -> int:
    """Return how many tokens this share is: at least one, as a rewriting must do something."""
    return min(num_tokens, max(1, round(noise * num_tokens)))


def least_sure(
    log_probabilities: Tensor, noise: float, *, temperature: float, generator: torch.Generator
) -> set[int]:
    """Return the positions of the least likely tokens (log_probabilities: (length,)).

    ``temperature`` 0 takes just these; above it, Gumbel noise of that scale draws others, too.
    """
    ranks = log_probabilities + temperature * gumbel(len(log_probabilities), generator)
    count = num_noised(len(log_probabilities), noise)
    return set(ranks.argsort(stable=True)[:count].tolist())


def any_of(num_tokens: int, noise: float, generator: torch.Generator) -> set[int]:
    """Return this share of the positions, at random (uniform-state: nothing marks the unsure)."""
    order = torch.randperm(num_tokens, generator=generator, device=generator.device)
    return set(order[: num_noised(num_tokens, noise)].tolist())


def gumbel(length: int, generator: torch.Generator) -> Tensor:
    """Return Gumbel noise (length,) on the CPU: added to log-probabilities, the largest is a draw
    from them."""
    uniform = torch.rand(length, generator=generator, dtype=torch.float64)
    return -(-uniform.clamp(1e-12, 1 - 1e-12).log()).log().float()
