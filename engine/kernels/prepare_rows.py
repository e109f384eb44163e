"""The steps of a layer but for its big products, each a phase that threads share.

Rows are float32. Knows neither tokens nor what the rows are for.
"""

import numpy as np
from numba import njit

from intarsia.engine.kernels.int8_matrix import as_bytes, panel_products
from intarsia.engine.kernels.intrinsics import exp
from intarsia.engine.kernels.microkernels import GROUP, LANES, MOST_ROWS
from intarsia.engine.kernels.work_units import finish, take, wait

ROWS_AT_ONCE = 4
_FIRST = np.int64(0)  # group; as a bare 0 numba would compile the same once more
_ONES = np.ones(LANES, np.float32)


@njit(fastmath=True, error_model="numpy")
def norm(row, weight, eps, out):
    """Write a row by its root mean square, times a weight (RMSNorm, arXiv 1910.07467)."""
    total = np.float32(0)
    for k in range(row.shape[0]):
        total += row[k] * row[k]
    factor = np.float32(1) / np.sqrt(total / np.float32(row.shape[0]) + eps)
    for k in range(row.shape[0]):
        out[k] = row[k] * factor * weight[k]


@njit(fastmath=True, error_model="numpy")
def gate(
    first_row, end_row, num_frozen, down, down_scales, inner, num_groups, bytes_, scales, zeros
):
    """Write the adapter's inner numbers into the last group of rows that are bytes already; zeros
    for frozen rows. ``down`` (panels, bytes) is its first matrix, ``inner`` room for its products.
    """
    last = num_groups - 1
    start = min(max(first_row, num_frozen), end_row)
    for row in range(first_row, start):
        for k in range(last * GROUP, num_groups * GROUP):
            bytes_[row, k] = 0
        scales[row * num_groups + last] = 0
        zeros[row * num_groups + last] = 0
    for panel in range(down.shape[0]):
        panel_products(
            down.ctypes.data + panel * down.shape[1],
            _ONES.ctypes.data,
            start,
            end_row - start,
            bytes_,
            scales,
            zeros,
            num_groups,
            last,
            inner.ctypes.data + 4 * panel * LANES,
            inner.shape[1],
        )
    for row in range(start, end_row):
        for k in range(inner.shape[1]):
            inner[row - start, k] *= down_scales[k]
        as_bytes(inner[row - start], row, last, num_groups, bytes_, scales, zeros)


@njit(fastmath=True, error_model="numpy")
def prepare_norm(
    counters,
    phase,
    x,
    added,
    weight,
    eps,
    num_frozen,
    down,
    down_scales,
    num_groups,
    bytes_,
    scales,
    zeros,
):
    """x += added; then its norm as bytes. ``added`` may be wider than x: its padding is left."""
    num_rows, width = x.shape
    num_units = (num_rows + ROWS_AT_ONCE - 1) // ROWS_AT_ONCE
    normed = np.empty(width, np.float32)
    inner = np.empty((ROWS_AT_ONCE + MOST_ROWS, down_scales.shape[0]), np.float32)
    unit = take(counters, phase)
    while unit < num_units:
        first, end = unit * ROWS_AT_ONCE, min((unit + 1) * ROWS_AT_ONCE, num_rows)
        for row in range(first, end):
            for k in range(width):
                x[row, k] += added[row, k]
            norm(x[row], weight, eps, normed)
            as_bytes(normed, row, _FIRST, num_groups, bytes_, scales, zeros)
        if down.shape[0]:
            gate(
                first, end, num_frozen, down, down_scales, inner,
                num_groups, bytes_, scales, zeros,
            )  # fmt: skip
        finish(counters, phase)
        unit = take(counters, phase)
    wait(counters, phase, num_units)


@njit(fastmath=True, error_model="numpy")
def prepare_rows(
    counters, phase, num_rows, x, num_frozen, down, down_scales, num_groups, bytes_, scales, zeros
):
    """Rows as bytes, as they are."""
    num_units = (num_rows + ROWS_AT_ONCE - 1) // ROWS_AT_ONCE
    inner = np.empty((ROWS_AT_ONCE + MOST_ROWS, down_scales.shape[0]), np.float32)
    unit = take(counters, phase)
    while unit < num_units:
        first, end = unit * ROWS_AT_ONCE, min((unit + 1) * ROWS_AT_ONCE, num_rows)
        for row in range(first, end):
            as_bytes(x[row], row, _FIRST, num_groups, bytes_, scales, zeros)
        if down.shape[0]:
            gate(
                first, end, num_frozen, down, down_scales, inner,
                num_groups, bytes_, scales, zeros,
            )  # fmt: skip
        finish(counters, phase)
        unit = take(counters, phase)
    wait(counters, phase, num_units)


@njit(fastmath=True, error_model="numpy")
def prepare_gated(
    counters,
    phase,
    num_rows,
    both,
    width,
    num_frozen,
    down,
    down_scales,
    num_groups,
    bytes_,
    scales,
    zeros,
):
    """SiLU of the first half of a row, times the second, as bytes (SwiGLU, arXiv 2002.05202)."""
    num_units = (num_rows + ROWS_AT_ONCE - 1) // ROWS_AT_ONCE
    gated = np.empty(width, np.float32)
    inner = np.empty((ROWS_AT_ONCE + MOST_ROWS, down_scales.shape[0]), np.float32)
    unit = take(counters, phase)
    while unit < num_units:
        first, end = unit * ROWS_AT_ONCE, min((unit + 1) * ROWS_AT_ONCE, num_rows)
        for row in range(first, end):
            opened, passed = both[row, :width], both[row, width : 2 * width]
            for k in range(width):
                gated[k] = opened[k] / (np.float32(1) + exp(-opened[k])) * passed[k]
            as_bytes(gated, row, _FIRST, num_groups, bytes_, scales, zeros)
        if down.shape[0]:
            gate(
                first, end, num_frozen, down, down_scales, inner,
                num_groups, bytes_, scales, zeros,
            )  # fmt: skip
        finish(counters, phase)
        unit = take(counters, phase)
    wait(counters, phase, num_units)


@njit(fastmath=True, error_model="numpy")
def finish_rows(counters, phase, x, added, weight, eps, hidden):
    """The last norm: hidden states (rows, hidden)."""
    num_rows, width = x.shape
    unit = take(counters, phase)
    while unit < num_rows:
        for k in range(width):
            x[unit, k] += added[unit, k]
        norm(x[unit], weight, eps, hidden[unit])
        finish(counters, phase)
        unit = take(counters, phase)
    wait(counters, phase, num_rows)
