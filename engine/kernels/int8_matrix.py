"""Quantize matrices and rows to int8.

A row of a matrix has one scale. A row that is multiplied has one scale per GROUP of its numbers, so
a few large numbers cost precision only in their own group.
"""

import numpy as np
from numba import njit

from intarsia.engine.kernels.intrinsics import bits_of_float, float_of_bits, nearest
from intarsia.engine.kernels.microkernels import GROUP
from intarsia.engine.kernels.operands import Bytes, Floats, Int8Matrices
from intarsia.engine.kernels.vector_writer import CACHE_LINE, num_lanes, zero_point

_MAX_INT8 = 127
_MIN_SCALED = 1e-9  # the largest number of a row of zeros counts as this


def empty_matrices(count: int, num_out: int, num_in: int) -> Int8Matrices:
    """Return ``count`` matrices of zeros, to be filled by ``write_rows``."""
    lanes = num_lanes()
    num_panels = -(-num_out // lanes)
    num_groups = -(-num_in // GROUP)
    padded = num_panels * lanes
    return Int8Matrices(
        panels=_aligned(count, num_panels, num_groups * GROUP * lanes),
        column_scales=np.zeros((count, padded), np.float32),
        biases=np.zeros((count, padded), np.float32),
        num_out=num_out,
        num_groups=num_groups,
    )


def _aligned(*size: int) -> Bytes:
    # Panels begin at a cache line.
    memory = np.zeros(int(np.prod(size)) + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + int(np.prod(size))].reshape(size)


def write_rows(
    matrices: Int8Matrices, index: int, first_row: int, weight: Floats, bias: Floats | None = None
) -> None:
    """Quantize rows of one matrix, from ``first_row`` on, which must begin a panel.

    Raises ValueError where the rows or columns do not fit.
    """
    num_rows, num_columns = weight.shape
    if first_row + num_rows > matrices.num_padded or num_columns > matrices.num_groups * GROUP:
        raise ValueError(f"no room for {weight.shape} from row {first_row}")
    rows = slice(first_row, first_row + num_rows)
    panels = matrices.panels[index, first_row // num_lanes() : -(-rows.stop // num_lanes())]
    if bias is not None:
        matrices.biases[index, rows] = bias
    quantize_columns(weight, panels, matrices.column_scales[index, rows])


@njit(nogil=True, fastmath=True, error_model="numpy")
def quantize_columns(numbers, panels, scales):
    """Write rows of numbers into panels, and each row's scale.

    Four columns of each of a panel's rows are adjacent, then follow the next four columns.
    """
    lanes = num_lanes()
    for row in range(numbers.shape[0]):
        largest = np.float32(_MIN_SCALED)
        for k in range(numbers.shape[1]):
            largest = max(largest, abs(numbers[row, k]))
        scales[row] = largest / np.float32(_MAX_INT8)
        inverse = np.float32(_MAX_INT8) / largest
        panel, lane = row // lanes, row % lanes
        for k in range(numbers.shape[1]):
            at = k // 4 * 4 * lanes + 4 * lane + k % 4
            number = np.int32(nearest(numbers[row, k] * inverse))
            panels[panel, at] = np.uint8(number + zero_point())


@njit(fastmath=True, error_model="numpy")
def quantize_row(numbers, row, rows):
    """Quantize the groups of one row."""
    for group in range((numbers.shape[0] + GROUP - 1) // GROUP):
        own = numbers[group * GROUP : (group + 1) * GROUP]
        target = rows.quantized[row, group * GROUP : (group + 1) * GROUP]
        # Without their signs, floats are in the order of their bits: LLVM vectorizes this maximum.
        largest_bits = np.int32(0)
        for k in range(own.shape[0]):
            magnitude = np.int32(bits_of_float(own[k]) & np.int32(0x7FFFFFFF))
            largest_bits = max(largest_bits, magnitude)
        largest = float_of_bits(largest_bits)
        inverse = np.float32(0) if largest == 0 else np.float32(_MAX_INT8) / largest
        total = np.int32(0)
        for k in range(own.shape[0]):
            number = np.int32(nearest(own[k] * inverse))
            target[k] = number
            total += number
        for k in range(own.shape[0], GROUP):
            target[k] = 0
        rows.scales[row * rows.num_groups + group] = largest / np.float32(_MAX_INT8)
        rows.zeros[row * rows.num_groups + group] = -zero_point() * total
