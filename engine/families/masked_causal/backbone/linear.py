"""A weight matrix as a pass multiplies by it: rows come in, rows go out.

A short pass costs what reading the weights costs: matrices lie as oneDNN reads them fastest
(docs/performance.md). Knows neither layers nor tokens.
"""

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

_USUAL_ROWS = 8  # oneDNN lays a matrix out for so many; others run nearly as well


class Matrix(Protocol):
    """(out, in), and what is added to its products."""

    def multiply(self, x: Tensor) -> Tensor:
        """Return (rows, out) of (rows, in), in the same format."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlainMatrix:
    """As it is, in the format that a pass computes in."""

    weight: Tensor
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class PackedMatrix:
    """The same numbers in oneDNN's own order, which a plain matrix is brought into at every
    product."""

    packed: Tensor  # of no layout that other operations know
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")
        return y


def packed_matrix(weight: Tensor, bias: Tensor | None = None) -> PackedMatrix:
    """Return a weight (out, in) as oneDNN reads it. Raises RuntimeError where it packs none."""
    return PackedMatrix(torch.ops.mkldnn._reorder_linear_weight(weight, _USUAL_ROWS), bias)


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
