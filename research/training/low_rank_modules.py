"""Trainable low-rank matrices beside the linear layers of a transformers model (LoRA).

The model is not changed: forward hooks add each pair's output to its layer's. Parameters are
float32; a forward pass uses them in the layer's own format.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from intarsia.engine.families.lora import SCALE


class LowRankModules(nn.Module):
    """One pair a name; layers under one name share their weights and the pair.

    The pairs start as a zero change: every ``up`` is zero.
    """

    def __init__(
        self,
        layers: Mapping[str, Sequence[nn.Linear]],
        *,
        rank: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self._names = tuple(layers)
        self.down = nn.ParameterList()
        self.up = nn.ParameterList()
        self._hooks: list[RemovableHandle] = []
        for linears in layers.values():
            num_in, num_out = linears[0].in_features, linears[0].out_features
            self.down.append(random_matrix(rank, num_in, generator))
            self.up.append(nn.Parameter(torch.zeros(num_out, rank)))
        for index, linears in enumerate(layers.values()):
            hook = self._make_hook(index)
            self._hooks += [linear.register_forward_hook(hook) for linear in linears]

    def named_tensors(self) -> dict[str, Tensor]:
        """Return all tensors by their names in the file."""
        downs = {f"A.{name}": down for name, down in zip(self._names, self.down, strict=True)}
        ups = {f"B.{name}": up for name, up in zip(self._names, self.up, strict=True)}
        return downs | ups

    def remove_hooks(self) -> None:
        """Restore the model as it was before."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _make_hook(self, index: int) -> Callable[[nn.Module, Any, Tensor], Tensor]:
        def add(layer: nn.Module, arguments: Any, output: Tensor) -> Tensor:
            (x,) = arguments
            down, up = self.down[index].to(x.dtype), self.up[index].to(x.dtype)
            return output + SCALE * F.linear(F.linear(x, down), up)

        return add


def random_matrix(num_rows: int, num_columns: int, generator: torch.Generator) -> nn.Parameter:
    """Return a normal random matrix that keeps the variance of what it multiplies."""
    numbers = torch.randn(num_rows, num_columns, generator=generator)
    return nn.Parameter(numbers / math.sqrt(num_columns))
