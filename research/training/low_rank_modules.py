"""Low-rank matrices beside linear layers of somebody else's model, while they are trained.

The layers stay where they are and as they are: what a pair adds is added to what they say. Float32
numbers inside; a pass uses them in the layer's own format, and gradients flow back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from intarsia.engine.families.lora import SCALE
from intarsia.research.training.low_rank_pairs import drawn


class LowRankModules(nn.Module):
    """One pair a name; layers of one name share weights, and the pair. They begin as nothing: the
    second of each pair is zero."""

    def __init__(
        self,
        layers: Mapping[str, Sequence[nn.Linear]],
        *,
        rank: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self._names = tuple(layers)
        self.first = nn.ParameterList()
        self.second = nn.ParameterList()
        self._hooks: list[Any] = []
        for linears in layers.values():
            into, out = linears[0].in_features, linears[0].out_features
            self.first.append(drawn(rank, into, generator))
            self.second.append(nn.Parameter(torch.zeros(out, rank)))
        for number, linears in enumerate(layers.values()):
            self._hooks += [it.register_forward_hook(self._adding(number)) for it in linears]

    def named(self) -> dict[str, Tensor]:
        """Return all numbers by their names in a file."""
        firsts = {f"A.{name}": it for name, it in zip(self._names, self.first, strict=True)}
        seconds = {f"B.{name}": it for name, it in zip(self._names, self.second, strict=True)}
        return firsts | seconds

    def let_go(self) -> None:
        """Leave the model as it was."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _adding(self, number: int) -> Callable[[nn.Module, Any, Tensor], Tensor]:
        def add(layer: nn.Module, arguments: Any, said: Tensor) -> Tensor:
            (x,) = arguments
            first, second = self.first[number].to(x.dtype), self.second[number].to(x.dtype)
            return said + SCALE * F.linear(F.linear(x, first), second)

        return add
