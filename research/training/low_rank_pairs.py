"""Low-rank matrices for every part of every layer, while they are trained (LoRA, arXiv 2106.09685).

Float32 numbers inside; what a pass uses is in the backbone's own format, and gradients flow back.
"""

import math

import torch
from torch import Tensor, nn

from intarsia.engine.families.masked_causal.backbone.lora_layers import (
    LowRankLayer,
    low_rank_layers,
    part_sizes,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape


class LowRankPairs(nn.Module):
    """They begin as nothing: the second of each pair is zero."""

    def __init__(self, shape: BackboneShape, *, rank: int, generator: torch.Generator) -> None:
        super().__init__()
        self._shape = shape
        self.first = nn.ParameterDict()
        self.second = nn.ParameterDict()
        for layer in range(shape.num_layers):
            for part, (into, out) in part_sizes(shape).items():
                self.first[f"{part}{layer}"] = drawn(rank, into, generator)
                self.second[f"{part}{layer}"] = nn.Parameter(torch.zeros(out, rank))

    def in_use(self, dtype: torch.dtype) -> tuple[LowRankLayer, ...]:
        """Return the pairs of each layer, scaled."""
        numbers = {name: number.to(dtype) for name, number in self.named().items()}
        return low_rank_layers(numbers, self._shape, "in training")

    def named(self) -> dict[str, Tensor]:
        """Return all numbers by their names in a file."""
        firsts = {f"A.{name}": parameter for name, parameter in self.first.items()}
        return firsts | {f"B.{name}": parameter for name, parameter in self.second.items()}


def drawn(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """Return a matrix of normal numbers that keeps the size of what goes through it."""
    return nn.Parameter(torch.randn(rows, columns, generator=generator) / math.sqrt(columns))
