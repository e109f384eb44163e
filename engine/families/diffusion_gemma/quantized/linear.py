"""Matrices held in fewer bits, as modules: one matrix, or one for each expert.

Apart from rounding, a product equals that with the matrices of ``from_float8`` and ``from_int4``.
With float8 the rows are converted to float8 too, as the hardware requires.
"""

import math
from importlib.util import find_spec
from typing import Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

FLOAT8 = torch.float8_e4m3fn
_LARGEST_FLOAT8 = 448.0
_LARGEST_INT4 = 7
_LARGEST_GROUP = 64


def to_float8(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Return (…, n) in float8 and the float32 scale of each row, (…)."""
    largest = numbers.abs().amax(dim=-1).float()
    scale = (largest / _LARGEST_FLOAT8).clamp(min=1e-12)
    return (numbers.float() / scale[..., None]).to(FLOAT8), scale


def from_float8(numbers: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the numbers that ``to_float8`` rounded."""
    return (numbers.float() * scale[..., None]).to(dtype)


def to_int4(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Return (…, n / 2) bytes and the scale of each group, (…, groups), in the numbers' format.

    ``n`` is even; the size of a group is the greatest common divisor of 64 and ``n``.
    """
    group = math.gcd(numbers.shape[-1], _LARGEST_GROUP)
    grouped = numbers.float().reshape(*numbers.shape[:-1], -1, group)
    scale = (grouped.abs().amax(dim=-1) / _LARGEST_INT4).clamp(min=1e-12).to(numbers.dtype)
    whole = (grouped / scale[..., None].float()).round().clamp(-_LARGEST_INT4, _LARGEST_INT4)
    first, second = (whole + 8).to(torch.uint8).chunk(2, dim=-1)
    return (first | (second << 4)).flatten(-2), scale


def from_int4(packed: Tensor, scale: Tensor) -> Tensor:
    """Return the numbers that ``to_int4`` rounded, in the scale's format."""
    halves = packed.view(*scale.shape, -1)
    whole = torch.cat((halves & 15, halves >> 4), dim=-1).to(scale.dtype)
    return whole.sub_(8).mul_(scale[..., None]).flatten(-2)


def grouped_product(rows: Tensor, matrices: Tensor, ends: Tensor) -> Tensor:
    """Return (rows, out) of rows (rows, in) and matrices (groups, out, in).

    ``ends`` (groups,) int32 is the end row of each group; the last one is the number of rows. On a
    GPU this is one launch that waits for nothing. Without a torch kernel it is a product per group.
    """
    if _has_kernel(rows):
        product: Tensor = F.grouped_mm(rows, matrices.transpose(-2, -1), offs=ends)
        return product
    return product_by_product(rows, matrices, ends)


def product_by_product(rows: Tensor, matrices: Tensor, ends: Tensor) -> Tensor:
    """Return the same, one group after the other; waits for the device to copy ``ends``."""
    out = rows.new_empty(rows.shape[0], matrices.shape[1])
    start = 0
    for group, end in enumerate(ends.tolist()):
        if end > start:
            out[start:end] = F.linear(rows[start:end], matrices[group])
        start = end
    return out


def _has_kernel(rows: Tensor) -> bool:
    """Whether torch (2.10 or later) multiplies these rows: on a GPU, bfloat16 from Ampere on."""
    if not hasattr(F, "grouped_mm"):
        return False
    if rows.device.type == "cuda":
        return rows.dtype == torch.bfloat16 and torch.cuda.get_device_capability(rows.device) >= (
            8,
            0,
        )
    return rows.device.type == "cpu" and rows.dtype in (torch.bfloat16, torch.float32)


LowBit: TypeAlias = Literal["fp8", "int4"]


class LowBitMatrix(nn.Module):
    """One matrix (out, in); replaces an ``nn.Linear`` without bias."""

    def __init__(self, numbers: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.numbers = nn.Buffer(numbers)
        self.scale = nn.Buffer(scale)

    def forward(self, rows: Tensor) -> Tensor:
        return self._product(rows.flatten(0, -2)).view(*rows.shape[:-1], -1)

    def _product(self, rows: Tensor) -> Tensor:
        if self.numbers.dtype != FLOAT8:
            if not unpacks_on_chip(self.scale, rows):
                return F.linear(rows, from_int4(self.numbers, self.scale))
            end = torch.full((1,), len(rows), dtype=torch.int32, device=rows.device)
            return _int4_product(rows, self.numbers[None], self.scale[None], end)
        rows8, row_scale = to_float8(rows)
        if not has_float8(rows.device):
            known = from_float8(self.numbers, self.scale, torch.float32)
            return F.linear(from_float8(rows8, row_scale, torch.float32), known).to(rows.dtype)
        product: Tensor = torch._scaled_mm(
            rows8,
            self.numbers.t(),
            scale_a=row_scale[:, None],
            scale_b=self.scale[None],
            out_dtype=torch.bfloat16,
        )
        return product


class LowBitMatrices(nn.Module):
    """Matrices (groups, out, in), one for each group of rows."""

    def __init__(self, numbers: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.numbers = nn.Buffer(numbers)
        self.scale = nn.Buffer(scale)

    def forward(self, rows: Tensor, ends: Tensor) -> Tensor:
        """Return the products of sorted rows; see ``grouped_product`` for ``ends``."""
        if self.numbers.dtype != FLOAT8:
            if not unpacks_on_chip(self.scale, rows):
                return grouped_product(rows, from_int4(self.numbers, self.scale), ends)
            return _int4_product(rows, self.numbers, self.scale, ends)
        rows8, row_scale = to_float8(rows)
        if not has_float8(rows.device):
            known = from_float8(self.numbers, self.scale, torch.float32)
            read = from_float8(rows8, row_scale, torch.float32)
            return grouped_product(read, known, ends).to(rows.dtype)
        product: Tensor = torch._scaled_grouped_mm(
            rows8,
            self.numbers.transpose(-2, -1),
            row_scale,
            self.scale,
            offs=ends,
            out_dtype=torch.bfloat16,
            use_fast_accum=True,
        )
        return product


def low_bit(matrices: Tensor, kind: LowBit) -> tuple[Tensor, Tensor]:
    """Return numbers and scales of matrices (…, out, in)."""
    return to_float8(matrices) if kind == "fp8" else to_int4(matrices)


def has_float8(device: torch.device) -> bool:
    """Whether float8 products run on a device: NVIDIA, compute capability 9.0 or later."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (9, 0)


def unpacks_on_chip(scale: Tensor, rows: Tensor) -> bool:
    """Whether Triton multiplies by four bits here; its products need 16 numbers at once."""
    has_triton = rows.device.type == "cuda" and find_spec("triton") is not None
    return has_triton and rows.shape[-1] // scale.shape[-1] >= 32


def _int4_product(rows: Tensor, packed: Tensor, scale: Tensor, ends: Tensor) -> Tensor:
    from intarsia.engine.families.diffusion_gemma.quantized.int4_matmul import (
        int4_product,  # Triton is not everywhere
    )

    return int4_product(rows, packed, scale, ends)
