"""Number formats: float8 with a scale per row, four bits with a scale per group.

Float8 (e4m3) has four significant bits; a scale fits a row's largest number into its range. Four
bits are whole numbers from -7 to 7 times the scale of a group. A byte holds a number of the group's
first half and, in its upper bits, the number at the same place of the second half.
"""

import math

import torch
from torch import Tensor

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
