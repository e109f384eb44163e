"""Linear maps of a forward pass: a weight matrix, plain or packed, with or without an adapter.

A short pass takes as long as reading the weights takes, so matrices may be packed into the order
that oneDNN reads fastest (docs/design-notes/int8-passes.md). Knows neither layers nor tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.lora import LowRank

_TYPICAL_ROWS = 8  # oneDNN packs a matrix for this number; others run nearly as fast


class Matrix(Protocol):
    """A weight (out, in) and perhaps a bias."""

    def multiply(self, x: Tensor) -> Tensor:
        """Return (rows, out) of (rows, in), in the same number format."""
        ...


class RowLinear(Protocol):
    """A matrix of a layer, which may act on some rows in another way than on frozen rows."""

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        """Return (rows, out) of (rows, in); an adapter acts after the first ``num_frozen`` rows."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A weight in the number format that a pass computes in."""

    weight: Tensor
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class PackedLinear:
    """A weight in oneDNN's own order; a plain one is brought into it at every product."""

    packed: Tensor  # in a layout that no other operation reads
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")
        return y


def pack(weight: Tensor, bias: Tensor | None = None) -> PackedLinear:
    """Return a weight (out, in) in oneDNN's order. Raises RuntimeError where oneDNN cannot."""
    return PackedLinear(torch.ops.mkldnn._reorder_linear_weight(weight, _TYPICAL_ROWS), bias)


@cache
def can_pack(dtype: torch.dtype) -> bool:
    """Tell whether matrices of this number format can be packed here, and multiply right."""
    weight = torch.arange(60 * 36, dtype=torch.float32).sin().to(dtype).view(60, 36)
    for num_rows in (1, _TYPICAL_ROWS, 70):
        x = torch.arange(num_rows * 36, dtype=torch.float32).cos().to(dtype).view(num_rows, 36)
        try:
            products = pack(weight).multiply(x)
        except (AttributeError, NotImplementedError, RuntimeError):
            return False
        if not torch.allclose(products, F.linear(x, weight), rtol=0.02, atol=0.02):
            return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class UnadaptedLinear:
    """A matrix without an adapter: all rows are multiplied in the same way."""

    matrix: Matrix

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        return self.matrix.multiply(x)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedLinear:
    """A matrix and an adapter next to it. The weight stays as it is, perhaps mapped from a file."""

    matrix: Matrix
    down: Matrix  # (rank, in)
    up: Matrix  # (out, rank)

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        y = self.matrix.multiply(x)
        if num_frozen < len(x):
            y[num_frozen:] += self.up.multiply(self.down.multiply(x[num_frozen:]))
        return y


@dataclass(frozen=True, slots=True, eq=False)
class FusedLinear:
    """A matrix with the adapter's down matrix as its last rows, for weights that are copied.

    A product of few numbers takes about as long as one of thousands, so one product is faster.
    """

    matrix: Matrix  # (out + rank, in)
    num_out: int
    up: Matrix  # (out, rank)

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        both = self.matrix.multiply(x)
        y = both[:, : self.num_out]
        if num_frozen < len(x):
            inner = both[num_frozen:, self.num_out :]
            y[num_frozen:] += self.up.multiply(inner.contiguous())
        return y


def fused(
    weight: Tensor,
    bias: Tensor | None,
    change: LowRank,
    *,
    matrix_of: Callable[[Tensor, Tensor | None], Matrix],
) -> FusedLinear:
    """Return a copy of the weight and the adapter, in the format of ``matrix_of``."""
    padded = None if bias is None else torch.cat([bias, bias.new_zeros(len(change.down))])
    return FusedLinear(
        matrix_of(torch.cat([weight, change.down]), padded),
        num_out=len(weight),
        up=matrix_of(change.up, None),
    )
