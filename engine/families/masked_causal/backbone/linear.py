"""A weight matrix as a pass multiplies by it: rows come in, rows go out.

A short pass costs what reading the weights costs: matrices lie as oneDNN reads them fastest
(docs/performance.md). Knows neither layers nor tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.lora import LowRank

_USUAL_ROWS = 8  # oneDNN lays a matrix out for so many; others run nearly as well


class Matrix(Protocol):
    """(out, in), and what is added to its products."""

    def multiply(self, x: Tensor) -> Tensor:
        """Return (rows, out) of (rows, in), in the same format."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """As it is, in the format that a pass computes in."""

    weight: Tensor
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class PackedLinear:
    """The same numbers in oneDNN's own order, which a plain matrix is brought into at every
    product."""

    packed: Tensor  # of no layout that other operations know
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")
        return y


def packed_matrix(weight: Tensor, bias: Tensor | None = None) -> PackedLinear:
    """Return a weight (out, in) as oneDNN reads it. Raises RuntimeError where it packs none."""
    return PackedLinear(torch.ops.mkldnn._reorder_linear_weight(weight, _USUAL_ROWS), bias)


@cache
def packs(dtype: torch.dtype) -> bool:
    """Return whether matrices of this format can be packed here."""
    weight = torch.arange(60 * 36, dtype=torch.float32).sin().to(dtype).view(60, 36)
    for num_rows in (1, _USUAL_ROWS, 70):
        x = torch.arange(num_rows * 36, dtype=torch.float32).cos().to(dtype).view(num_rows, 36)
        try:
            found = packed_matrix(weight).multiply(x)
        except (AttributeError, NotImplementedError, RuntimeError):
            return False
        if not torch.allclose(found, F.linear(x, weight), rtol=0.02, atol=0.02):
            return False
    return True


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AdaptedLinear:
    """(out, in). ``up`` is None where there is no adapter."""

    matrix: Matrix  # where there is no ``down`` of its own, the adapter's lies below
    num_out: int
    down: Matrix | None  # (rank, in)
    up: Matrix | None  # (out, rank)

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        """Return (rows, out) of (rows, in); the first rows are frozen."""
        y = self.matrix.multiply(x)
        if self.up is None:
            return y
        y, below = y[:, : self.num_out], y[num_frozen:, self.num_out :]
        if num_frozen < len(x):
            inner = self.down.multiply(x[num_frozen:]) if self.down else below.contiguous()
            y[num_frozen:] += self.up.multiply(inner)
        return y


def ungated(matrix: Matrix, num_out: int) -> AdaptedLinear:
    """Return a matrix without an adapter."""
    return AdaptedLinear(matrix=matrix, num_out=num_out, down=None, up=None)


def apart(matrix: Matrix, low_rank: LowRank) -> AdaptedLinear:
    """Return a matrix that stays as it is, mapped perhaps, with an adapter beside it."""
    return AdaptedLinear(
        matrix=matrix,
        num_out=len(low_rank.up),
        down=Linear(low_rank.down),
        up=Linear(low_rank.up),
    )


def joined(
    weight: Tensor,
    bias: Tensor | None,
    low_rank: LowRank,
    *,
    matrix_of: Callable[[Tensor, Tensor | None], Matrix],
    up_of: Callable[[Tensor], Matrix],
) -> AdaptedLinear:
    """Return a matrix that makes the adapter's first product in its own: one that is copied
    anyway. A product of few numbers takes about as long as one of thousands."""
    rank = len(low_rank.down)
    longer = None if bias is None else torch.cat([bias, bias.new_zeros(rank)])
    return AdaptedLinear(
        matrix=matrix_of(torch.cat([weight, low_rank.down]), longer),
        num_out=len(weight),
        down=None,
        up=up_of(low_rank.up),
    )
