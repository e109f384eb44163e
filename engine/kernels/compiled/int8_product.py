"""Multiply int8 rows by an int8 matrix: a phase that threads share in units of panels.

Many rows meet blocks of panels, which are read from memory once for all rows. A few rows meet panel
after panel: these products are as fast as memory is read. A row's products are the same to the bit
in both.
"""

from intarsia.engine.arrays import CACHE_LINE
from intarsia.engine.kernels.compiled import microkernels
from intarsia.engine.kernels.compiled.block_tile import (
    BLOCK_ROWS,
    block_panels,
    block_tile_2,
    block_tile_4,
    block_tile_6,
)
from intarsia.engine.kernels.compiled.intrinsics import kernel
from intarsia.engine.kernels.compiled.work_units import claim, done, wait_for
from intarsia.engine.kernels.operands import FEW_ROWS, MAX_TILE_ROWS, BlockAt, RowsAt, Strided
from intarsia.engine.kernels.processor import num_lanes

_UNITS_PER_THREAD = 8


@kernel
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


@kernel
def multiply_many(first_panel, product, y):
    """Write the products of all rows and one block; each tile fetches a share of the next one."""
    rows, matrix = product.rows, product.matrix
    panel_bytes, column = matrix.panels.shape[1], first_panel * num_lanes()
    address = matrix.panels.ctypes.data + first_panel * panel_bytes
    block_bytes = block_panels() * panel_bytes
    num_shares = (rows.num_rows + BLOCK_ROWS - 1) // BLOCK_ROWS * rows.num_groups
    lines_ahead = (block_bytes // CACHE_LINE + num_shares - 1) // num_shares
    for row in range(0, rows.num_rows, BLOCK_ROWS):
        share = row // BLOCK_ROWS * rows.num_groups * lines_ahead
        block = BlockAt(
            address,
            panel_bytes,
            matrix.column_scales.ctypes.data + 4 * column,
            matrix.biases.ctypes.data + 4 * column,
            address + block_bytes + share * CACHE_LINE,
            lines_ahead,
        )
        target = Strided(y.ctypes.data + 4 * (row * y.shape[1] + column), y.shape[1])
        multiply_block(block, rows_from(rows, row), rows.num_rows - row, target)


@kernel
def multiply_block(block, x, num_rows, y):
    """Write the products of up to ``BLOCK_ROWS`` rows and a block; one row more may be written."""
    if num_rows > 4:
        block_tile_6(block, x, y)
    elif num_rows > 2:
        block_tile_4(block, x, y)
    else:
        block_tile_2(block, x, y)


@kernel
def multiply_few(first_panel, end_panel, product, y):
    """Write the products of all rows and some panels."""
    rows, matrix, lanes = product.rows, product.matrix, num_lanes()
    for panel in range(first_panel, end_panel):
        column = panel * lanes
        multiply_panel(
            matrix.panels.ctypes.data + panel * matrix.panels.shape[1],
            rows,
            Strided(y.ctypes.data + 4 * column, y.shape[1]),
        )
        for row in range(rows.num_rows):
            for lane in range(lanes):
                y[row, column + lane] = (
                    y[row, column + lane] * matrix.column_scales[column + lane]
                    + matrix.biases[column + lane]
                )


@kernel
def multiply_panel(panel, rows, y):
    """Write the products of all rows and one panel, without their scales.

    ``panel`` is an address. Up to seven rows that follow in ``y`` are overwritten with meaningless
    numbers.
    """
    for row in range(0, rows.num_rows, MAX_TILE_ROWS):
        x = rows_from(rows, row)
        target = Strided(y.address + 4 * row * y.stride, y.stride)
        remaining = rows.num_rows - row
        if remaining > 4:
            microkernels.int8_tile_8(panel, x, target)
        elif remaining > 2:
            microkernels.int8_tile_4(panel, x, target)
        elif remaining == 2:
            microkernels.int8_tile_2(panel, x, target)
        else:
            microkernels.int8_tile_1(panel, x, target)


@kernel
def rows_from(rows, first):
    """Return where int8 rows are in memory, from one on."""
    return RowsAt(
        rows.quantized.ctypes.data + first * rows.quantized.shape[1],
        rows.quantized.shape[1],
        rows.scales.ctypes.data + 4 * first * rows.num_groups,
        rows.zeros.ctypes.data + 4 * first * rows.num_groups,
        rows.num_groups,
    )
