"""Quantize DiffusionGemma's large matrices, layer by layer, on the device that will run them.

Experts, attention and dense layers are quantized. Router, embeddings, norms and self-conditioning
keep their format. Encoder and decoder share the new weights, as they shared the old ones.
"""

import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias

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
    return pack_int4((whole + 8).to(torch.uint8).flatten(-2), group), scale


def pack_int4(codes: Tensor, group: int) -> Tensor:
    """Return (…, n / 2) bytes of codes (…, n) from 0 to 15: in a byte are a number of the first
    half of its group, and one of the second half."""
    return _halves(codes, group)


def _halves(codes: Tensor, size: int) -> Tensor:
    first, second = codes.reshape(*codes.shape[:-1], -1, size).chunk(2, dim=-1)
    packed: Tensor = (first | (second << 4)).flatten(-2)
    return packed


def from_int4(packed: Tensor, scale: Tensor) -> Tensor:
    """Return the numbers that ``to_int4`` rounded, in the scale's format."""
    halves = packed.view(*scale.shape, -1)
    whole = torch.cat((halves & 15, halves >> 4), dim=-1).to(scale.dtype)
    return whole.sub_(8).mul_(scale[..., None]).flatten(-2)


_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_NVFP4_PART = 32  # numbers that share 16 bytes here: two groups of 16, each with its scale


def from_nvfp4(packed: Tensor, scale: Tensor, row_scale: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the numbers of NVFP4: four bits (E2M1), a float8 scale for 16, one for the row.

    In byte ``j`` of each 16 are the numbers ``j`` (the lower half) and ``16 + j``.
    """
    table = torch.tensor([*_E2M1, *(-number for number in _E2M1)], device=packed.device)
    bytes_ = packed.reshape(*packed.shape[:-1], -1, _NVFP4_PART // 2).int()
    numbers = table[torch.stack((bytes_ & 15, bytes_ >> 4), dim=-2)]  # (…, parts, 2, 16)
    whole = numbers.flatten(-3, -2) * scale.float()[..., None]
    return (whole.flatten(-2) * row_scale[..., None]).to(dtype)


def pack_nvfp4(codes: Tensor) -> Tensor:
    """Return (…, n / 2) bytes of codes (…, n) from 0 to 15, as ``from_nvfp4`` reads them."""
    return _halves(codes, _NVFP4_PART)


def product_by_product(rows: Tensor, matrix: Callable[[int], Tensor], ends: Tensor) -> Tensor:
    """Return (rows, out) of sorted rows (rows, in), each group times its own matrix (out, in).

    ``ends`` (groups,) int32 is the end row of each group; the last one is the number of rows. One
    matrix after the other, and only those that have rows; waits for the device to copy ``ends``.
    """
    products = []
    start = 0
    for group, end in enumerate(ends.tolist()):
        if end > start:
            products.append(F.linear(rows[start:end], matrix(group)))
        start = end
    return torch.cat(products)


LowBit: TypeAlias = Literal["fp8", "int4"]
"""The formats that a model in 16 bits is quantised to here."""


class LowBitNumbers(NamedTuple):
    """Matrices (…, out, in) in few bits.

    ========  ========================  ============================  ==================
    kind      ``numbers``               ``scale``                     ``row_scale``
    ========  ========================  ============================  ==================
    float8    (…, out, in) float8       (…, out) float32              None
    int4      (…, out, in / 2) bytes    (…, out, groups)              None
    NVFP4     (…, out, in / 2) bytes    (…, out, in / 16) float8      (…, out) float32
    ========  ========================  ============================  ==================
    """

    numbers: Tensor
    scale: Tensor
    row_scale: Tensor | None = None

    def to(self, device: torch.device) -> "LowBitNumbers":
        """Return these numbers on a device."""
        return LowBitNumbers(*(None if part is None else part.to(device) for part in self))  # type: ignore[arg-type]


class _LowBit(nn.Module):
    def __init__(self, numbers: Tensor, scale: Tensor, row_scale: Tensor | None = None) -> None:
        super().__init__()
        self.numbers = nn.Buffer(numbers)
        self.scale = nn.Buffer(scale)
        self.row_scale = None if row_scale is None else nn.Buffer(row_scale)

    def _unpacked(self, dtype: torch.dtype, group: int | None = None) -> Tensor:
        """Return the matrices, or one of them, in 16 or 32 bits."""
        parts = (self.numbers, self.scale, self.row_scale)
        numbers, scale, row_scale = (
            part if part is None or group is None else part[group] for part in parts
        )
        assert numbers is not None
        assert scale is not None
        if row_scale is not None:
            return from_nvfp4(numbers, scale, row_scale, dtype)
        if numbers.dtype == FLOAT8:
            return from_float8(numbers, scale, dtype)
        return from_int4(numbers, scale.to(dtype))


class LowBitMatrix(_LowBit):
    """One matrix (out, in); replaces an ``nn.Linear`` without bias."""

    def forward(self, rows: Tensor) -> Tensor:
        return self._product(rows.flatten(0, -2)).view(*rows.shape[:-1], -1)

    def _product(self, rows: Tensor) -> Tensor:
        if self.numbers.dtype == FLOAT8 and has_float8(rows.device):
            rows8, row_scale = to_float8(rows)
            product: Tensor = torch._scaled_mm(
                rows8,
                self.numbers.t(),
                scale_a=row_scale[:, None],
                scale_b=self.scale[None],
                out_dtype=torch.bfloat16,
            )
            return product
        if self.numbers.dtype == FLOAT8 or not unpacks_on_chip(self.scale, rows):
            return F.linear(rows, self._unpacked(rows.dtype))
        end = torch.full((1,), len(rows), dtype=torch.int32, device=rows.device)
        of_rows = None if self.row_scale is None else self.row_scale[None]
        return _packed_product(rows, self.numbers[None], self.scale[None], of_rows, end)


class LowBitMatrices(_LowBit):
    """Matrices (groups, out, in), one for each group of rows."""

    def forward(self, rows: Tensor, ends: Tensor) -> Tensor:
        """Return the products of sorted rows; see ``grouped_product`` for ``ends``."""
        if self.numbers.dtype == FLOAT8 and has_float8(rows.device):
            rows8, row_scale = to_float8(rows)
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
        if self.numbers.dtype == FLOAT8 or not unpacks_on_chip(self.scale, rows):
            return product_by_product(rows, lambda group: self._unpacked(rows.dtype, group), ends)
        return _packed_product(rows, self.numbers, self.scale, self.row_scale, ends)


def low_bit(matrices: Tensor, kind: LowBit) -> LowBitNumbers:
    """Return numbers and scales of matrices (…, out, in)."""
    return LowBitNumbers(*(to_float8(matrices) if kind == "fp8" else to_int4(matrices)))


def has_float8(device: torch.device) -> bool:
    """Whether torch multiplies float8 on a device: NVIDIA, compute capability 9 or 10."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device)[0] in (9, 10)


def unpacks_on_chip(scale: Tensor, rows: Tensor) -> bool:
    """Whether Triton multiplies by four bits here; its products need 16 numbers at once."""
    has_triton = rows.device.type == "cuda" and find_spec("triton") is not None
    return has_triton and rows.shape[-1] // scale.shape[-1] >= (16 if scale.dtype == FLOAT8 else 32)


def _packed_product(
    rows: Tensor, packed: Tensor, scale: Tensor, row_scale: Tensor | None, ends: Tensor
) -> Tensor:
    from intarsia.engine.families.diffusion_gemma import int4_matmul  # needs Triton

    return int4_matmul.packed_product(rows, packed, scale, row_scale, ends)


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
            f"fp8 needs an NVIDIA card of compute capability 9 or 10 (H100, B200), not {device}: "
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


def _one_by_one(matrices: Tensor, kind: LowBit, device: torch.device) -> LowBitNumbers:
    """Quantize one expert at a time, as rounding needs its float32 copy."""
    parts = [low_bit(matrix.to(device), kind) for matrix in matrices]
    return LowBitNumbers(
        torch.stack([part.numbers for part in parts]), torch.stack([part.scale for part in parts])
    )
