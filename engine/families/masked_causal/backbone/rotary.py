"""Rotary position embedding (RoPE, arXiv 2104.09864)."""

import math

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.shape import (
    BackboneShape,
    LinearRope,
    RopeScaling,
)


def inverse_frequencies(shape: BackboneShape) -> Tensor:
    """Return the rotation per position of each pair of dimensions, (head_dim / 2,) float32."""
    exponents = torch.arange(0, shape.head_dim, 2, dtype=torch.float32) / shape.head_dim
    frequencies = 1.0 / shape.rope_theta**exponents
    match shape.rope_scaling:
        case None:
            return frequencies
        case LinearRope(factor=factor):
            return frequencies / factor
        case scaling:
            return _stretch(frequencies, scaling)


def rotation(positions: Tensor, frequencies: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return cosine and sine, each (…, rows, head_dim / 2), for positions (…, rows)."""
    angles = positions[..., None].float() * frequencies
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Return x (…, heads, rows, head_dim) rotated by the rows' positions."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def _stretch(frequencies: Tensor, scaling: RopeScaling) -> Tensor:
    """Return Llama 3.1's frequencies: low ones are divided by a factor, high ones are kept."""
    wavelengths = 2 * math.pi / frequencies
    turns = scaling.original_max_positions / wavelengths
    smooth = (turns - scaling.low_freq_factor) / (
        scaling.high_freq_factor - scaling.low_freq_factor
    )
    smooth = smooth.clamp(0, 1)  # 0: divide by the whole factor, 1: keep
    return (1 - smooth) * frequencies / scaling.factor + smooth * frequencies
