"""Multiply int8 rows by an int8 matrix: a phase that threads share in units of panels.

Many rows meet blocks of panels, which are read from memory once for all rows. A few rows meet panel
after panel: these products are as fast as memory is read. A row's products are the same to the bit
in both.
"""

import numpy as np
from numba import njit

from intarsia.engine.kernels import microkernels
from intarsia.engine.kernels.block_tile import (
    BLOCK_ROWS,
    block_panels,
    block_tile_2,
    block_tile_4,
    block_tile_6,
)
from intarsia.engine.kernels.operands import BlockAt, PanelAt, RowsAt, Strided
from intarsia.engine.kernels.vector_writer import CACHE_LINE, num_lanes
from intarsia.engine.kernels.work_units import claim, done, wait_for

_UNITS_PER_THREAD = 8
FEW_ROWS = 16
"""Up to here, blocks were not faster."""

_FIRST_ROW = np.int64(0)  # a bare 0 has a type of its own: numba would compile the callees twice


@njit(fastmath=True, error_model="numpy")
def multiply(phase, product, y):
    """Write a product's rows times its matrix into y (rows and some to spare, padded out)."""
    num_panels, together = product.matrix.panels.shape[0], block_panels()
    is_many = product.rows.num_rows > FEW_ROWS
    size = max(1, num_panels // (_UNITS_PER_THREAD * phase.num_threads))
    if is_many:
        size = (size + together - 1) // together * together
    num_units = (num_panels + size - 1) // size
    unit = claim(phase)
    while unit < num_units:
        first, end = unit * size, min((unit + 1) * size, num_panels)
        while is_many and first + together <= end:
            multiply_many(first, product, y)
            first += together
        multiply_few(first, end, product, y)
        done(phase)
        unit = claim(phase)
    wait_for(phase, num_units)


@njit(fastmath=True, error_model="numpy")
def multiply_many(first_panel, product, y):
    """Write the products of all rows and one block; each tile fetches a share of the next one."""
    rows, matrix, adapter = product.rows, product.matrix, product.adapter
    panel_bytes, column = matrix.panels.shape[1], first_panel * num_lanes()
    address = matrix.panels.ctypes.data + first_panel * panel_bytes
    has_adapter = adapter.down.panels.shape[0] > 0
    num_plain = rows.num_groups - 1 if has_adapter else rows.num_groups
    block_bytes = block_panels() * panel_bytes
    num_shares = (rows.num_rows + BLOCK_ROWS - 1) // BLOCK_ROWS * num_plain
    lines_ahead = (block_bytes // CACHE_LINE + num_shares - 1) // num_shares
    for row in range(0, rows.num_rows, BLOCK_ROWS):
        is_adapted = has_adapter and row + BLOCK_ROWS > adapter.num_frozen
        share = row // BLOCK_ROWS * num_plain * lines_ahead
        block = BlockAt(
            address,
            panel_bytes,
            num_plain,
            1 if is_adapted else 0,
            matrix.last_scales.ctypes.data + 4 * column,
            matrix.column_scales.ctypes.data + 4 * column,
            matrix.biases.ctypes.data + 4 * column,
            address + block_bytes + share * CACHE_LINE,
            lines_ahead,
        )
        target = Strided(y.ctypes.data + 4 * (row * y.shape[1] + column), y.shape[1])
        multiply_block(block, rows_from(rows, row), rows.num_rows - row, target)


@njit(fastmath=True, error_model="numpy")
def multiply_block(block, x, num_rows, y):
    """Write the products of up to ``BLOCK_ROWS`` rows and a block; one row more may be written."""
    if num_rows > 4:
        block_tile_6(block, x, y)
    elif num_rows > 2:
        block_tile_4(block, x, y)
    else:
        block_tile_2(block, x, y)


@njit(fastmath=True, error_model="numpy")
def multiply_few(first_panel, end_panel, product, y):
    """Write the products of all rows and some panels."""
    rows, matrix, lanes = product.rows, product.matrix, num_lanes()
    for panel in range(first_panel, end_panel):
        column = panel * lanes
        multiply_panel(
            PanelAt(
                matrix.panels.ctypes.data + panel * matrix.panels.shape[1],
                matrix.last_scales.ctypes.data + 4 * column,
                rows.num_groups,
            ),
            rows,
            _FIRST_ROW,
            rows.num_rows,
            Strided(y.ctypes.data + 4 * column, y.shape[1]),
        )
        for row in range(rows.num_rows):
            for lane in range(lanes):
                y[row, column + lane] = (
                    y[row, column + lane] * matrix.column_scales[column + lane]
                    + matrix.biases[column + lane]
                )


@njit(fastmath=True, error_model="numpy")
def multiply_panel(panel, rows, first_row, num_rows, y):
    """Write the products of some rows and one panel to the address ``y``, without their scales.

    Up to seven rows that follow in ``y`` are overwritten with meaningless numbers.
    """
    row = 0
    while row < num_rows:
        x = rows_from(rows, first_row + row)
        target = Strided(y.address + 4 * row * y.stride, y.stride)
        remaining = num_rows - row
        if remaining > 4:
            microkernels.int8_tile_8(panel, x, target)
        elif remaining > 2:
            microkernels.int8_tile_4(panel, x, target)
        elif remaining == 2:
            microkernels.int8_tile_2(panel, x, target)
        else:
            microkernels.int8_tile_1(panel, x, target)
        row += 8


@njit(fastmath=True, error_model="numpy")
def rows_from(rows, first):
    """Return where int8 rows are in memory, from one on."""
    return RowsAt(
        rows.quantized.ctypes.data + first * rows.quantized.shape[1],
        rows.quantized.shape[1],
        rows.scales.ctypes.data + 4 * first * rows.num_groups,
        rows.zeros.ctypes.data + 4 * first * rows.num_groups,
        rows.num_groups,
    )
