"""Rotary position embedding (RoPE, arXiv 2104.09864)."""

import math

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import Array, floats, namespace
from intarsia.engine.families.masked_causal.backbone.shape import (
    BackboneShape,
    LinearRope,
    RopeScaling,
)


def inverse_frequencies(shape: BackboneShape) -> npt.NDArray[np.float32]:
    """Return the rotation per position of each pair of dimensions, (head_dim / 2,) float32."""
    exponents = np.arange(0, shape.head_dim, 2, dtype=np.float32) / np.float32(shape.head_dim)
    frequencies = np.float32(1) / np.float32(shape.rope_theta) ** exponents
    match shape.rope_scaling:
        case None:
            return frequencies
        case LinearRope(factor=factor):
            return frequencies / np.float32(factor)
        case scaling:
            return _stretch(frequencies, scaling)


def rotation(positions: Array, frequencies: Array) -> tuple[Array, Array]:
    """Return cosine and sine, each (…, rows, head_dim / 2) float32, for positions (…, rows)."""
    angles = floats(positions)[..., None] * frequencies
    if not isinstance(angles, np.ndarray):
        return angles.cos(), angles.sin()
    # NumPy's functions of float32 round otherwise on each processor; a last bit changes texts.
    exact = angles.astype(np.float64)
    return np.cos(exact).astype(np.float32), np.sin(exact).astype(np.float32)


def rotate(x: Array, cosine: Array, sine: Array) -> Array:
    """Return x (…, heads, rows, head_dim) rotated by the rows' positions."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    return namespace(x).concat(turned, axis=-1)


def _stretch(frequencies: npt.NDArray[np.float32], scaling: RopeScaling) -> npt.NDArray[np.float32]:
    """Return Llama 3.1's frequencies: low ones are divided by a factor, high ones are kept."""
    wavelengths = 2 * math.pi / frequencies
    turns = scaling.original_max_positions / wavelengths
    smooth = (turns - scaling.low_freq_factor) / (
        scaling.high_freq_factor - scaling.low_freq_factor
    )
    smooth = np.clip(smooth, 0, 1)  # 0: divide by the whole factor, 1: keep
    stretched = (1 - smooth) * frequencies / scaling.factor + smooth * frequencies
    return stretched.astype(np.float32, copy=False)
