"""Whether products of bytes can be had here, and come out right."""

from functools import cache

import numpy as np

from intarsia.engine.kernels import run_compiled
from intarsia.engine.kernels.dot_product import find_dot_product
from intarsia.engine.kernels.forward import run_output
from intarsia.engine.kernels.int8_matrix import AdaptedInt8, Floats, empty_matrices, put
from intarsia.engine.kernels.microkernels import GROUP, MOST_ROWS
from intarsia.engine.kernels.threads import Team

_NUM_PHASES = 2


def multiply_rows(part: AdaptedInt8, x: Floats, team: Team) -> Floats:
    """Return x (rows, in) times a part's only matrix: (rows, out)."""
    num_rows, matrix = len(x), part.matrices
    y = np.empty((num_rows + MOST_ROWS, matrix.num_padded), np.float32)
    if num_rows:
        room = empty_rows(num_rows, matrix.num_groups)
        team.run(run_output, _NUM_PHASES, part.laid_out(), x, *room, y)
    return y[:num_rows, : matrix.num_out]


def empty_rows(num_rows: int, num_groups: int) -> tuple[object, ...]:
    """Return room for rows as bytes, their groups' scales, and what their sums begin with."""
    with_spare = num_rows + MOST_ROWS
    return (
        np.zeros((with_spare, num_groups * GROUP), np.int8),
        np.zeros(with_spare * num_groups, np.float32),
        np.zeros(with_spare * num_groups, np.int32),
    )


_NUM_OUT, _NUM_IN = 37, 3 * GROUP + 5
_TOLERANCE = 0.02  # of the largest product, for two roundings to 127 steps


@cache
def multiplies_bytes() -> bool:
    """Return whether this processor has the instruction, and the compiled products are right."""
    if find_dot_product() is None:
        return False
    weight = np.sin(np.arange(_NUM_OUT * _NUM_IN, dtype=np.float32)).reshape(_NUM_OUT, _NUM_IN)
    return run_compiled(lambda: _is_right(weight))


def _is_right(weight: Floats) -> bool:
    part, team = lone_matrix(weight), Team(1)
    for num_rows in (1, 3, MOST_ROWS + 1):
        x = np.cos(np.arange(num_rows * _NUM_IN, dtype=np.float32)).reshape(num_rows, _NUM_IN)
        found, wanted = multiply_rows(part, x, team), x @ weight.T
        if not np.allclose(found, wanted, atol=_TOLERANCE * float(np.abs(wanted).max())):
            return False
    return True


def lone_matrix(weight: Floats) -> AdaptedInt8:
    """Return one matrix (out, in) without a gated share."""
    num_out, num_in = weight.shape
    matrices = empty_matrices(1, num_out, num_in, is_gated=False)
    put(matrices, 0, 0, weight)
    return AdaptedInt8(matrices=matrices, inner=empty_matrices(1, 0, num_in, is_gated=False))
