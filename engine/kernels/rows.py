"""Rows times one matrix, and the room that rows of bytes take."""

import numpy as np

from intarsia.engine.kernels.byte_matrix import Floats, GatedBytes
from intarsia.engine.kernels.passes import run_output
from intarsia.engine.kernels.team import Team
from intarsia.engine.kernels.tiles import GROUP, MOST_ROWS

_NUM_PHASES = 2


def multiply_rows(part: GatedBytes, x: Floats, team: Team) -> Floats:
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
