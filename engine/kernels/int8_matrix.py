"""Quantize matrices and rows to int8.

A row of a matrix has one scale. A row that is multiplied has one scale per GROUP of its numbers, so
a few large numbers cost precision only in their own group.
"""

import numpy as np
from numba import njit

from intarsia.engine.kernels.intrinsics import bits_of_float, float_of_bits, nearest
from intarsia.engine.kernels.microkernels import GROUP
from intarsia.engine.kernels.operands import Bytes, Floats, Int8Matrices, Int8Matrix
from intarsia.engine.kernels.vector_writer import CACHE_LINE, num_lanes, zero_point

_MAX_INT8 = 127
_MIN_SCALED = 1e-9  # the largest number of a row of zeros counts as this


def num_groups_of(num_in: int) -> int:
    """Return the number of groups in a row of ``num_in`` numbers."""
    return -(-num_in // GROUP)


def empty_matrices(count: int, num_out: int, num_in: int, *, has_adapter: bool) -> Int8Matrices:
    """Return ``count`` matrices of zeros, to be filled by ``write_rows``."""
    lanes = num_lanes()
    num_panels = -(-num_out // lanes)
    num_groups = num_groups_of(num_in) + has_adapter
    padded = num_panels * lanes
    return Int8Matrices(
        panels=_aligned(count, num_panels, num_groups * GROUP * lanes),
        column_scales=np.zeros((count, padded), np.float32),
        last_scales=np.ones((count, padded), np.float32),
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
    matrices: Int8Matrices,
    index: int,
    first_row: int,
    weight: Floats,
    *,
    bias: Floats | None = None,
    up: Floats | None = None,
) -> None:
    """Quantize rows of one matrix, from ``first_row`` on, which must begin a panel.

    ``up`` (rows, rank) holds these rows of the adapter's up matrix. Raises ValueError where the
    rows or columns do not fit.
    """
    num_columns = (num_groups_of(weight.shape[1]) + (up is not None)) * GROUP
    is_narrow = up is None or 0 < up.shape[1] <= GROUP
    if first_row + len(weight) > matrices.num_padded or not is_narrow:
        raise ValueError(f"no room for {weight.shape} from row {first_row}")
    if num_columns > matrices.num_groups * GROUP:
        raise ValueError(f"no room for {num_columns} columns")
    rows = slice(first_row, first_row + len(weight))
    panels = matrices.panels[index, first_row // num_lanes() : -(-rows.stop // num_lanes())]
    if bias is not None:
        matrices.biases[index, rows] = bias
    scales = matrices.column_scales[index, rows]
    quantize_columns(weight, 0, panels, scales)
    if up is not None:
        up_scales = matrices.last_scales[index, rows]
        quantize_columns(up, num_groups_of(weight.shape[1]) * GROUP, panels, up_scales)
        up_scales /= scales


@njit(nogil=True, fastmath=True, error_model="numpy")
def quantize_columns(numbers, first_column, panels, scales):
    """Write rows of numbers into panels from a column on, and each row's scale.

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
            column = first_column + k
            at = column // 4 * 4 * lanes + 4 * lane + column % 4
            number = np.int32(nearest(numbers[row, k] * inverse))
            panels[panel, at] = np.uint8(number + zero_point())


@njit(fastmath=True, error_model="numpy")
def matrix_of(matrices, index):
    """Return one matrix of a stack."""
    return Int8Matrix(
        matrices.panels[index],
        matrices.column_scales[index],
        matrices.last_scales[index],
        matrices.biases[index],
    )


@njit(fastmath=True, error_model="numpy")
def quantize_row(numbers, row, first_group, rows):
    """Quantize numbers into groups of one row, from ``first_group`` on."""
    for group in range((numbers.shape[0] + GROUP - 1) // GROUP):
        own = numbers[group * GROUP : (group + 1) * GROUP]
        target = rows.quantized[
            row, (first_group + group) * GROUP : (first_group + group + 1) * GROUP
        ]
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
        rows.scales[row * rows.num_groups + first_group + group] = largest / np.float32(_MAX_INT8)
        rows.zeros[row * rows.num_groups + first_group + group] = -zero_point() * total
