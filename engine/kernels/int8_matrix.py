"""Quantize matrices and rows to int8.

A row of a matrix has one scale. A row that is multiplied has one scale per GROUP of its numbers, so
a few large numbers cost precision only in their own group.
"""

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import aligned_bytes
from intarsia.engine.kernels.native_kernel import quantize_columns, unpack_blocks
from intarsia.engine.kernels.operands import BLOCK, BLOCK_BYTES, GROUP, Bytes, Floats, Int8Matrices
from intarsia.engine.kernels.processor import num_lanes


def empty_matrices(count: int, num_out: int, num_in: int) -> Int8Matrices:
    """Return ``count`` matrices of zeros, to be filled by ``write_rows``.

    Panels begin at a cache line.
    """
    lanes = num_lanes()
    num_panels = -(-num_out // lanes)
    num_groups = -(-num_in // GROUP)
    padded, panel_bytes = num_panels * lanes, num_groups * GROUP * lanes
    return Int8Matrices(
        panels=aligned_bytes(count * num_panels * panel_bytes).reshape(-1, num_panels, panel_bytes),
        column_scales=np.zeros((count, padded), np.float32),
        biases=np.zeros((count, padded), np.float32),
        num_out=num_out,
        num_groups=num_groups,
    )


def write_rows(
    matrices: Int8Matrices, index: int, first_row: int, weight: Floats, bias: Floats | None = None
) -> None:
    """Quantize rows of one matrix, from ``first_row`` on, which must begin a panel.

    Raises ValueError where the rows or columns do not fit.
    """
    num_rows, num_columns = weight.shape
    if first_row + num_rows > matrices.num_padded or num_columns > matrices.num_groups * GROUP:
        raise ValueError(f"no room for {weight.shape} from row {first_row}")
    rows = slice(first_row, first_row + num_rows)
    panels = matrices.panels[index, first_row // num_lanes() : -(-rows.stop // num_lanes())]
    if bias is not None:
        matrices.biases[index, rows] = bias
    quantize_columns.bind(weight, panels, matrices.column_scales[index, rows])()


def unpacked_rows(blocks: Bytes, format_name: str) -> Floats:
    """Return the numbers of rows (rows, bytes) in one of llama.cpp's ``BLOCK_BYTES`` formats."""
    parts = blocks.reshape(len(blocks), -1, BLOCK_BYTES[format_name])
    scales = np.ascontiguousarray(parts[..., :2]).view(np.float16)[..., 0].astype(np.float32)
    numbers = np.empty((len(blocks), scales.shape[1] * BLOCK), np.float32)
    unpack_blocks.bind(blocks, scales, numbers)()
    return numbers


def picked_rows(matrices: Int8Matrices, rows: npt.NDArray[np.int64]) -> Int8Matrices:
    """Return a matrix of the given rows of the only one, in their order, without its biases."""
    lanes = num_lanes()
    picked = empty_matrices(1, len(rows), matrices.num_groups * GROUP)
    panel, lane = np.divmod(rows, lanes)
    source = matrices.panels[0].view(np.uint32).reshape(-1, matrices.num_groups * GROUP // 4, lanes)
    target = picked.panels[0].view(np.uint32).reshape(-1, source.shape[1], lanes)
    for place in range(lanes):
        its = slice(place, None, lanes)
        target[: len(rows[its]), :, place] = source[panel[its], :, lane[its]]
    picked.column_scales[0, : len(rows)] = matrices.column_scales[0, rows]
    return picked
