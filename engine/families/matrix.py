"""A weight matrix as a pass multiplies by it: rows come in, rows go out.

A short pass costs what reading the weights costs: matrices lie as oneDNN reads them fastest, or in
half the bytes (docs/performance.md). Knows neither layers nor tokens.
"""

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

_MOST = 127  # of an int8, either side of zero
_ZERO = 128  # of rows, whose bytes have no sign: oneDNN's products want it so
_TINY = 1e-9  # stands for a row of zeros
_ROWS_AT_ONCE = 1024
_NUM_ADDED = 512
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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Int8Matrix:
    """One scale for each of its rows; one for each row that it multiplies, found on the way
    (LLM.int8, arXiv 2208.07339, without its outliers apart).

    ``is_fine``: what rounding leaves of a row is a second row of bytes, so that the row counts with
    sixteen bits: for matrices whose rows have a few numbers far larger than the others.
    """

    packed: Tensor  # of no layout that other operations know
    scales: Tensor  # (out,) float32
    zeros: Tensor  # (out,) long
    bias: Tensor | None
    dtype: torch.dtype  # of rows
    is_fine: bool

    def multiply(self, x: Tensor) -> Tensor:
        # Torch has ways to say this in fewer words, some of them ten times as slow.
        sizes = x.abs().amax(dim=-1, keepdim=True).float().div_(_MOST).clamp_(min=_TINY)
        x = x.float() * sizes.reciprocal()
        coarse = x.round()
        if self.is_fine:
            fine = x.sub_(coarse).mul_(2 * _MOST).round_()
            both = self._products(torch.cat([coarse, fine]), torch.float32)
            y = both[: len(x)].add_(both[len(x) :], alpha=0.5 / _MOST)
        else:
            y = self._products(coarse, self.dtype)
        y.mul_(sizes)
        return (y if self.bias is None else y.add_(self.bias)).to(self.dtype)

    def _products(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        y: Tensor = torch.ops.onednn.qlinear_pointwise(
            *(x.to(torch.int8).view(torch.uint8).bitwise_xor_(_ZERO), 1.0, _ZERO),
            *(self.packed, self.scales, self.zeros),
            *(None, 1.0, 0, dtype, "none", [], ""),
        )
        return y


def packed_matrix(weight: Tensor, bias: Tensor | None = None) -> PackedMatrix:
    """Return a weight (out, in) as oneDNN reads it. Raises RuntimeError where it packs none."""
    return PackedMatrix(torch.ops.mkldnn._reorder_linear_weight(weight, _USUAL_ROWS), bias)


def int8_matrix(weight: Tensor, bias: Tensor | None = None, *, is_fine: bool = False) -> Int8Matrix:
    """Return a weight (out, in) in int8. Raises RuntimeError where oneDNN has no products of
    bytes."""
    numbers = torch.empty(weight.shape, dtype=torch.int8, device=weight.device)
    scales = torch.empty(len(weight), device=weight.device)
    for first in range(0, len(weight), _ROWS_AT_ONCE):  # an embedding in float32 is half a GB
        part = slice(first, first + _ROWS_AT_ONCE)
        exact = weight[part].float()
        scales[part] = (exact.abs().amax(dim=-1) / _MOST).clamp_(min=_TINY)
        numbers[part] = (exact / scales[part, None]).round_()
    return Int8Matrix(
        packed=torch.ops.onednn.qlinear_prepack(numbers, None),
        scales=scales,
        zeros=torch.zeros(len(weight), dtype=torch.long, device=weight.device),
        bias=bias,
        dtype=weight.dtype,
        is_fine=is_fine,
    )


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


@cache
def adds_bytes_exactly() -> bool:
    """Return whether products of bytes are to be had here, and right: processors without dot
    products of bytes (VNNI) add pairs of them in 16 bits, which overflow."""
    most = torch.full((_USUAL_ROWS, _NUM_ADDED), float(_MOST))
    try:
        found = int8_matrix(most).multiply(most)
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
    return bool(torch.allclose(found, most @ most.T, rtol=1e-5))
