"""Multiply rows by one int8 matrix, and check that compiled products are right on this machine."""

from functools import cache

import numpy as np

from intarsia.engine.kernels.compile_cache import run_compiled
from intarsia.engine.kernels.int8_matrix import empty_matrices, write_rows
from intarsia.engine.kernels.native_kernel import run_output
from intarsia.engine.kernels.operands import (
    FEW_ROWS,
    GROUP,
    MAX_TILE_ROWS,
    OUTPUT_PHASES,
    Floats,
    Int8Matrices,
    Int8Rows,
)
from intarsia.engine.kernels.processor import find_dot_product
from intarsia.engine.kernels.thread_team import ThreadTeam

_NUM_OUT, _NUM_IN = 77, 3 * GROUP + 5  # a block of panels, and some more
_NUM_ROWS = (1, 2, 3, MAX_TILE_ROWS + 1, FEW_ROWS + 4, FEW_ROWS + 6)
"""Together they take every tile: those for few rows, then blocks of 6 and 2, and of 6 and 4."""

_TOLERANCE = 0.02  # of the largest product, for two roundings to 127 steps


@cache
def can_multiply_int8() -> bool:
    """Tell whether this processor has the instruction, and the compiled products are right."""
    if find_dot_product() is None:
        return False
    weight = np.sin(np.arange(_NUM_OUT * _NUM_IN, dtype=np.float32)).reshape(_NUM_OUT, _NUM_IN)
    return run_compiled(lambda: _is_right(weight))


def multiply_rows(matrix: Int8Matrices, x: Floats, team: ThreadTeam) -> Floats:
    """Return x (rows, in) times the only matrix: (rows, out)."""
    num_rows = len(x)
    y = np.empty((num_rows + MAX_TILE_ROWS, matrix.num_padded), np.float32)
    if num_rows:
        rows = empty_rows(num_rows, matrix.num_groups)
        team.run(run_output, OUTPUT_PHASES, matrix, x, rows, y)
    return y[:num_rows, : matrix.num_out]


def empty_rows(num_rows: int, num_groups: int) -> Int8Rows:
    """Return memory for rows of up to ``num_groups`` groups."""
    with_spare = num_rows + MAX_TILE_ROWS
    return Int8Rows(
        quantized=np.zeros((with_spare, num_groups * GROUP), np.int8),
        scales=np.zeros(with_spare * num_groups, np.float32),
        zeros=np.zeros(with_spare * num_groups, np.int32),
        num_rows=num_rows,
        num_groups=num_groups,
    )


def quantize_matrix(weight: Floats) -> Int8Matrices:
    """Return one matrix (out, in)."""
    matrix = empty_matrices(1, *weight.shape)
    write_rows(matrix, 0, 0, weight)
    return matrix


def _is_right(weight: Floats) -> bool:
    matrix, team = quantize_matrix(weight), ThreadTeam(1)
    for num_rows in _NUM_ROWS:
        x = np.cos(np.arange(num_rows * _NUM_IN, dtype=np.float32)).reshape(num_rows, _NUM_IN)
        products, exact = multiply_rows(matrix, x, team), x @ weight.T
        if not np.allclose(products, exact, atol=_TOLERANCE * float(np.abs(exact).max())):
            return False
    return True
