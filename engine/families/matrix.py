"""A weight matrix as a pass multiplies by it: rows come in, rows go out.

int8 halves what a pass reads, which is what it costs, and multiplies at twice the speed where the
processor has dot products of bytes. Knows neither layers nor tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.backbone_weights import BackboneWeights, LayerWeights

_MOST = 127  # of an int8, either side of zero
_TINY = 1e-9  # stands for a row of zeros
_ROWS_AT_ONCE = 1024
_FINE = ("qkv", "down")
"""What comes into these has outliers: most of what int8 changes, it changes here."""


class Matrix(Protocol):
    """(out, in)."""

    def multiply(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Return (rows, out) of (rows, in), in the same format."""
        ...

    def rows(self, numbers: Tensor) -> Tensor:
        """Return rows of the matrix by their numbers (n,): (n, in)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlainMatrix:
    """In the format that a pass computes in."""

    weight: Tensor

    def multiply(self, x: Tensor, bias: Tensor | None) -> Tensor:
        return F.linear(x, self.weight, bias)

    def rows(self, numbers: Tensor) -> Tensor:
        return F.embedding(numbers, self.weight)


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

    def rows(self, numbers: Tensor) -> Tensor:
        chosen = self.numbers[numbers].float()
        return chosen.mul_(self.scales[numbers, None]).to(self.dtype)

    def _products(self, x: Tensor) -> Tensor:
        return torch._int_mm(x.to(torch.int8), self.numbers.T).float()


def with_matrices(
    weights: BackboneWeights[Tensor], matrix_of: Callable[[str, Tensor], Matrix]
) -> BackboneWeights[Matrix]:
    """Return the weights with each matrix in another form, by its name and itself. Where that is a
    copy, nothing of the given weights is held, so that a mapped file can go."""
    embed = matrix_of("embed", weights.embed)
    is_tied = weights.output is weights.embed
    return BackboneWeights(
        embed=embed,
        output=embed if is_tied else matrix_of("output", weights.output),
        norm=weights.norm.clone(),
        layers=tuple(
            LayerWeights(
                attn_norm=layer.attn_norm.clone(),
                qkv=matrix_of("qkv", layer.qkv),
                qkv_bias=_copied(layer.qkv_bias),
                q_norm=_copied(layer.q_norm),
                k_norm=_copied(layer.k_norm),
                o=matrix_of("o", layer.o),
                mlp_norm=layer.mlp_norm.clone(),
                gate_up=matrix_of("gate_up", layer.gate_up),
                down=matrix_of("down", layer.down),
            )
            for layer in weights.layers
        ),
    )


def plain_matrix(_name: str, weight: Tensor) -> PlainMatrix:
    """Return the weight as it is."""
    return PlainMatrix(weight)


def int8_matrix(name: str, weight: Tensor) -> Int8Matrix:
    """Return the weight in int8."""
    numbers = torch.empty(weight.shape, dtype=torch.int8, device=weight.device)
    scales = torch.empty(len(weight), device=weight.device)
    for first in range(0, len(weight), _ROWS_AT_ONCE):  # an embedding in float32 is half a GB
        part = slice(first, first + _ROWS_AT_ONCE)
        exact = weight[part].float()
        scales[part] = (exact.abs().amax(dim=-1) / _MOST).clamp_(min=_TINY)
        numbers[part] = (exact / scales[part, None]).round_()
    return Int8Matrix(numbers=numbers, scales=scales, dtype=weight.dtype, is_fine=name in _FINE)


def _copied(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()
