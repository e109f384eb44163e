"""Quantize DiffusionGemma's large matrices, layer by layer, on the device that will run them.

Experts, attention and dense layers are quantized. Router, embeddings, norms and self-conditioning
keep their format. Encoder and decoder share the new weights, as they shared the old ones.
"""

import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from intarsia.engine.errors import ModelError

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
        capability = torch.cuda.get_device_capability(rows.device)
        return rows.dtype == torch.bfloat16 and capability >= (8, 0)
    return rows.device.type == "cpu" and rows.dtype in (torch.bfloat16, torch.float32)


LowBit: TypeAlias = Literal["fp8", "int4"]


class _LowBit(nn.Module):
    def __init__(self, numbers: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.numbers = nn.Buffer(numbers)
        self.scale = nn.Buffer(scale)


class LowBitMatrix(_LowBit):
    """One matrix (out, in); replaces an ``nn.Linear`` without bias."""

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


class LowBitMatrices(_LowBit):
    """Matrices (groups, out, in), one for each group of rows."""

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
    from intarsia.engine.families.diffusion_gemma import int4_matmul  # needs Triton

    return int4_matmul.int4_product(rows, packed, scale, ends)


class LowBitExperts(nn.Module):
    """The experts: ``gate_up`` (experts, 2 · inner, hidden), ``down`` (experts, hidden, inner)."""

    def __init__(
        self,
        gate_up: LowBitMatrices,
        down: LowBitMatrices,
        activate: Callable[[Tensor], Tensor],
    ) -> None:
        super().__init__()
        self.gate_up = gate_up
        self.down = down
        self._activate = activate
        self._num_experts = gate_up.numbers.shape[0]

    def forward(self, rows: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
        """Return (rows, hidden) of rows (rows, hidden); ``chosen`` and ``weights`` (rows, k)."""
        num_chosen = chosen.shape[1]
        expert, order = chosen.flatten().sort()
        numbers = torch.arange(self._num_experts, dtype=expert.dtype, device=expert.device)
        ends = torch.searchsorted(expert, numbers, right=True).int()
        gate, up = self.gate_up(rows[order // num_chosen], ends).chunk(2, dim=-1)
        out = self.down(self._activate(gate) * up, ends)
        weighed = out * weights.flatten()[order, None]
        back = torch.empty_like(weighed)
        back[order] = weighed
        return back.view(*chosen.shape, -1).sum(dim=1).to(rows.dtype)


def require_low_bit(kind: LowBit, device: torch.device) -> None:
    """Raise ModelError if the format cannot run on the device; call it before reading weights."""
    if kind == "fp8" and not has_float8(device):
        raise ModelError(
            f"fp8 needs an NVIDIA card of compute capability 9.0 or later (H100), not {device}: "
            "take `--quantize int4`, or leave it out"
        )


@torch.no_grad()
def quantize_gemma(model: Any, kind: LowBit, device: torch.device) -> None:
    """Replace a model's large matrices, one by one: the device never holds both formats."""
    decoder, encoder = model.model.decoder.layers, model.model.encoder.language_model.layers
    for twins in zip(decoder, encoder, strict=True):
        experts = _experts(twins[0].experts, kind, device)
        for layer in twins:
            layer.experts = experts
        linears = [name for name, part in twins[0].named_modules() if isinstance(part, nn.Linear)]
        for name in (name for name in linears if not name.startswith("router.")):
            linear = twins[0].get_submodule(name)
            matrix = LowBitMatrix(*low_bit(linear.weight.to(device), kind))
            for layer in twins:
                layer.set_submodule(name, matrix)


def _experts(experts: Any, kind: LowBit, device: torch.device) -> LowBitExperts:
    return LowBitExperts(
        LowBitMatrices(*_one_by_one(experts.gate_up_proj, kind, device)),
        LowBitMatrices(*_one_by_one(experts.down_proj, kind, device)),
        experts.act_fn,
    )


def _one_by_one(matrices: Tensor, kind: LowBit, device: torch.device) -> tuple[Tensor, Tensor]:
    """Quantize one expert at a time, as rounding needs its float32 copy."""
    numbers, scales = zip(*(low_bit(matrix.to(device), kind) for matrix in matrices), strict=True)
    return torch.stack(numbers), torch.stack(scales)
