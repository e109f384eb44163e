"""Matrices held in fewer bits, as modules: one matrix, or one for each expert.

Apart from rounding, a product equals that with the matrices of ``from_float8`` and ``from_int4``.
With float8 the rows are converted to float8 too, as the hardware requires.
"""

from importlib.util import find_spec
from typing import Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from intarsia.engine.families.diffusion_gemma.quantized.grouped_matmul import grouped_product
from intarsia.engine.families.diffusion_gemma.quantized.number_formats import (
    FLOAT8,
    from_float8,
    from_int4,
    to_float8,
    to_int4,
)

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
        """Return the products of sorted rows; see grouped_matmul.py for ``ends``."""
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
