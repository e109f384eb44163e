"""Trainable low-rank matrices for every part of every backbone layer (LoRA, arXiv 2106.09685).

Parameters are float32; a forward pass uses them in the backbone's own format.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from intarsia.engine.families.masked_causal.backbone.adapter import (
    LowRankLayer,
    low_rank_layers,
    part_sizes,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape


class LowRankPairs(nn.Module):
    """One pair of matrices a part. They start as a zero change: every ``up`` is zero."""

    def __init__(self, shape: BackboneShape, *, rank: int, generator: torch.Generator) -> None:
        super().__init__()
        self._shape = shape
        self.down = nn.ParameterDict()
        self.up = nn.ParameterDict()
        for layer in range(shape.num_layers):
            for part, (num_in, num_out) in part_sizes(shape).items():
                self.down[f"{part}{layer}"] = random_matrix(rank, num_in, generator)
                self.up[f"{part}{layer}"] = nn.Parameter(torch.zeros(num_out, rank))

    def as_layers(self, dtype: torch.dtype) -> tuple[LowRankLayer, ...]:
        """Return the scaled pairs of each layer; gradients flow back."""
        tensors = {name: tensor.to(dtype) for name, tensor in self.named_tensors().items()}
        return low_rank_layers(tensors, self._shape, "in training")

    def named_tensors(self) -> dict[str, Tensor]:
        """Return all tensors by their names in the file."""
        downs = {f"A.{name}": parameter for name, parameter in self.down.items()}
        return downs | {f"B.{name}": parameter for name, parameter in self.up.items()}


def random_matrix(num_rows: int, num_columns: int, generator: torch.Generator) -> nn.Parameter:
    """Return a normal random matrix that keeps the variance of what it multiplies."""
    numbers = torch.randn(num_rows, num_columns, generator=generator)
    return nn.Parameter(numbers / math.sqrt(num_columns))


def save_tensors(tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str]) -> None:
    """Write tensors in bfloat16: the whole file, or none. ``metadata`` goes into its header."""
    converted = {name: t.detach().to("cpu", torch.bfloat16) for name, t in tensors.items()}
    partial = path.with_name(f"{path.name}.partial")
    save_file({n: t.contiguous() for n, t in converted.items()}, partial, metadata=dict(metadata))
    partial.replace(path)
