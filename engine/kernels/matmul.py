"""Whether products of bytes can be had here, and come out right."""

from functools import cache

import numpy as np

from intarsia.engine.kernels import run_compiled
from intarsia.engine.kernels.byte_matrix import Floats, GatedBytes, empty_matrices, put
from intarsia.engine.kernels.dot_product import find_dot_product
from intarsia.engine.kernels.rows import multiply_rows
from intarsia.engine.kernels.team import Team
from intarsia.engine.kernels.tiles import GROUP, MOST_ROWS

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


def lone_matrix(weight: Floats) -> GatedBytes:
    """Return one matrix (out, in) without a gated share."""
    num_out, num_in = weight.shape
    matrices = empty_matrices(1, num_out, num_in, is_gated=False)
    put(matrices, 0, 0, weight)
    return GatedBytes(matrices=matrices, inner=empty_matrices(1, 0, num_in, is_gated=False))
