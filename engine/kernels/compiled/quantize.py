"""Quantize the rows of a matrix, and those that are multiplied; unpack llama.cpp's blocks."""

import numpy as np

from intarsia.engine.kernels.compiled.intrinsics import (
    bits_of_float,
    float_of_bits,
    kernel,
    nearest,
)
from intarsia.engine.kernels.operands import BLOCK, BLOCK_BYTES, GROUP
from intarsia.engine.kernels.processor import num_lanes, zero_point

_MAX_INT8 = 127
_Q8_0_BYTES = BLOCK_BYTES["Q8_0"]
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


@kernel
def unpack_blocks(blocks, scales, numbers):
    """Write rows of numbers from blocks of 32 as llama.cpp stores them: Q8_0, or else Q5_0.

    A block is its scale in float16, which is given apart in float32; for Q5_0 the fifth bits; then
    the numbers, which Q5_0 stores in halves of bytes, the first sixteen in the low ones.
    """
    num_bytes = blocks.shape[1] // scales.shape[1]
    for row in range(blocks.shape[0]):
        for block in range(scales.shape[1]):
            stored = blocks[row, block * num_bytes : (block + 1) * num_bytes]
            target = numbers[row, block * BLOCK : (block + 1) * BLOCK]
            scale = scales[row, block]
            if num_bytes == _Q8_0_BYTES:
                for k in range(BLOCK):
                    target[k] = np.float32(np.int8(stored[2 + k])) * scale
            else:
                for k in range(BLOCK // 2):
                    byte = np.int32(stored[6 + k])
                    low = np.int32(stored[2 + k // 8]) >> (k % 8) & 1
                    high = np.int32(stored[4 + k // 8]) >> (k % 8) & 1
                    target[k] = np.float32((byte & 15 | low << 4) - 16) * scale
                    target[BLOCK // 2 + k] = np.float32((byte >> 4 | high << 4) - 16) * scale
