"""Quantize the rows of a matrix, and those that are multiplied."""

import numpy as np

from intarsia.engine.kernels.compiled.intrinsics import (
    bits_of_float,
    float_of_bits,
    kernel,
    nearest,
)
from intarsia.engine.kernels.operands import GROUP
from intarsia.engine.kernels.processor import num_lanes, zero_point

_MAX_INT8 = 127
_MIN_SCALED = 1e-9  # the largest number of a row of zeros counts as this


@kernel
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


@kernel
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
