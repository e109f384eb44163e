"""A weight matrix as a pass multiplies by it: rows come in, rows go out.

int8 halves what a pass reads, most of what a short pass costs. Knows neither layers nor tokens.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

_MOST = 127  # of an int8, either side of zero
_TINY = 1e-9  # stands for a row of zeros
_ROWS_AT_ONCE = 1024
_NUM_ADDED = 512


class Matrix(Protocol):
    """(out, in)."""

    def multiply(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Return (rows, out) of (rows, in), in the same format."""
        ...

    def rows(self, ids: Tensor) -> Tensor:
        """Return rows of the matrix by their places (n,): (n, in)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlainMatrix:
    """In the format that a pass computes in."""

    weight: Tensor

    def multiply(self, x: Tensor, bias: Tensor | None) -> Tensor:
        return F.linear(x, self.weight, bias)

    def rows(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.weight)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Int8Matrix:
    """One scale for each of its rows; one for each row that it multiplies, found on the way
    (LLM.int8, arXiv 2208.07339, without its outliers apart).

    ``is_fine``: what rounding leaves of a row is a second row of bytes, so that the row counts with
    sixteen bits: for matrices whose rows have a few numbers far larger than the others.
    """

    numbers: Tensor  # (out, in) int8
    scales: Tensor  # (out,) float32
    dtype: torch.dtype  # of rows
    is_fine: bool

    def multiply(self, x: Tensor, bias: Tensor | None) -> Tensor:
        sizes = (x.abs().amax(dim=-1, keepdim=True).float() / _MOST).clamp_(min=_TINY)
        x = x / sizes
        coarse = x.round()
        if self.is_fine:
            fine = x.sub_(coarse).mul_(2 * _MOST).round_()
            both = self._products(torch.cat([coarse, fine]))
            y = both[: len(x)].add_(both[len(x) :], alpha=0.5 / _MOST)
        else:
            y = self._products(coarse)
        y.mul_(sizes).mul_(self.scales)
        return (y if bias is None else y.add_(bias)).to(self.dtype)

    def rows(self, ids: Tensor) -> Tensor:
        return self.numbers[ids].float().mul_(self.scales[ids, None]).to(self.dtype)

    def _products(self, x: Tensor) -> Tensor:
        return torch._int_mm(x.to(torch.int8), self.numbers.T).float()


def int8_matrix(weight: Tensor, *, is_fine: bool = False) -> Int8Matrix:
    """Return a weight (out, in) in int8."""
    numbers = torch.empty(weight.shape, dtype=torch.int8, device=weight.device)
    scales = torch.empty(len(weight), device=weight.device)
    for first in range(0, len(weight), _ROWS_AT_ONCE):  # an embedding in float32 is half a GB
        part = slice(first, first + _ROWS_AT_ONCE)
        exact = weight[part].float()
        scales[part] = (exact.abs().amax(dim=-1) / _MOST).clamp_(min=_TINY)
        numbers[part] = (exact / scales[part, None]).round_()
    return Int8Matrix(numbers=numbers, scales=scales, dtype=weight.dtype, is_fine=is_fine)


def adds_bytes_exactly() -> bool:
    """Return whether this processor's products of bytes are right: those without dot products of
    bytes (VNNI) add pairs of them in 16 bits, which overflow."""
    most = torch.full((1, _NUM_ADDED), _MOST, dtype=torch.int8)
    return int(torch._int_mm(most, most.T)) == _NUM_ADDED * _MOST**2
