"""NumPy arrays on a processor and torch tensors on a GPU, computed by the same code.

What both offer is the array API standard (https://data-apis.org/array-api, ``array_api_compat``);
what that lacks is here. Importing this imports no torch.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

Array: TypeAlias = Any
"""A NumPy array or a torch tensor. In NumPy, which has no bfloat16, a uint16 is one's bits."""


def namespace(*arrays: Array) -> Any:
    """Return the module with the standard's functions for these arrays."""
    # NumPy follows the standard since 2.0; array_api_compat would import all parts of it.
    return np if isinstance(arrays[0], np.ndarray) else array_namespace(*arrays)


def floats(x: Array) -> Array:
    """Return the numbers in float32; a copy only where they are of another format."""
    if not isinstance(x, np.ndarray):
        return x.float()
    if x.dtype == np.uint16:
        return (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float32, copy=False)


def rounded_like(numbers: Array, x: Array) -> Array:
    """Return float32 numbers in the format of ``x``, rounded to the nearest, ties to even."""
    if not isinstance(x, np.ndarray):
        return numbers.to(x.dtype)
    return to_bfloat16(numbers) if x.dtype == np.uint16 else numbers.astype(x.dtype, copy=False)


def to_bfloat16(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Return the bits of the nearest bfloat16 numbers, ties to even."""
    rounded = round_to_bfloat16(np.array(numbers, np.float32))
    return (rounded.view(np.uint32) >> 16).astype(np.uint16)


def round_to_bfloat16(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Round contiguous numbers in place to what bfloat16 can hold, ties to even; return them."""
    bits = numbers.view(np.uint32)
    bits += 0x7FFF + ((bits >> 16) & 1)
    bits &= 0xFFFF0000
    return numbers


CACHE_LINE = 64  # bytes


def aligned_bytes(count: int) -> npt.NDArray[np.uint8]:
    """Return so many zeros, which begin at a cache line."""
    memory = np.zeros(count + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + count]


def linear(x: Array, weight: Array) -> Array:
    """Return (…, out) of x (…, in) and a weight (out, in)."""
    return x @ weight.T


def silu(x: Array) -> Array:
    """Return x · sigmoid(x)."""
    return 0.5 * x * (1 + namespace(x).tanh(0.5 * x))


def unit_norm(x: Array) -> Array:
    """Return rows divided by their root mean square, as torch's ``rms_norm`` does."""
    xp = namespace(x)
    mean = xp.mean(floats(x) ** 2, axis=-1, keepdims=True)
    return rounded_like(floats(x) / xp.sqrt(mean + xp.finfo(x.dtype).eps), x)


def logsumexp(logits: Array) -> Array:
    """Return log Σ exp (…,) of float32 logits (…, vocab)."""
    xp = namespace(logits)
    most = xp.max(logits, axis=-1, keepdims=True)
    return most[..., 0] + xp.log(xp.sum(xp.exp(logits - most), axis=-1))


def chosen(rows: Array, indexes: Sequence[int]) -> Array:
    """Return the number (rows,) at its own index of each row of rows (rows, n)."""
    xp = namespace(rows)
    at = xp.asarray(indexes, dtype=xp.int64, device=rows.device)
    return xp.take_along_axis(rows, at[:, None], axis=-1)[:, 0]


def copied(x: Array) -> Array:
    """Return a copy, which holds no more memory than its own."""
    return namespace(x).asarray(x, copy=True)


def excluding(indexes: Collection[int], numbers: Array) -> Array:
    """Return a copy of numbers (n,) with -inf at these indexes."""
    others = copied(numbers)
    others[list(indexes)] = -math.inf
    return others


def largest(x: Array, count: int) -> Array:
    """Return the indexes (…, count) of the largest numbers of x (…, n), the largest first."""
    if not isinstance(x, np.ndarray):
        return x.topk(count).indices
    if count == 1:
        return x.argmax(-1)[..., None]
    found = np.argpartition(x, -count, axis=-1)[..., -count:]
    order = np.argsort(-np.take_along_axis(x, found, -1), axis=-1, kind="stable")
    return np.take_along_axis(found, order, -1)
