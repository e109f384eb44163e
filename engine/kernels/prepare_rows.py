"""Quantize the rows that are multiplied next: normalized, gated, or as attention left them."""

from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from intarsia.engine.kernels.int8_matrix import quantize_row
from intarsia.engine.kernels.int8_product import multiply_panel
from intarsia.engine.kernels.intrinsics import exp
from intarsia.engine.kernels.microkernels import GROUP, MAX_TILE_ROWS
from intarsia.engine.kernels.operands import GateSource, NormSource, PanelAt, Strided
from intarsia.engine.kernels.vector_writer import num_lanes
from intarsia.engine.kernels.work_units import claim, done, wait_for

ROWS_PER_UNIT = 4
_OPTIONS = {"fastmath": True, "error_model": "numpy"}
_FIRST_GROUP = np.int64(0)  # with a bare 0, numba would compile the same function twice


@njit(fastmath=True, error_model="numpy")
def prepare_rows(phase, source, adapter, rows):
    """Quantize all rows of a source, and apply the adapter's down matrix to those of the canvas."""
    num_units = (rows.num_rows + ROWS_PER_UNIT - 1) // ROWS_PER_UNIT
    scratch = np.empty(rows.num_groups * GROUP, np.float32)
    inner = np.empty(
        (ROWS_PER_UNIT + MAX_TILE_ROWS, adapter.down.column_scales.shape[0]), np.float32
    )
    unit = claim(phase)
    while unit < num_units:
        first, end = unit * ROWS_PER_UNIT, min((unit + 1) * ROWS_PER_UNIT, rows.num_rows)
        for row in range(first, end):
            quantize_row(read_row(source, row, scratch), row, _FIRST_GROUP, rows)
        if adapter.down.panels.shape[0]:
            apply_adapter(first, end, adapter, inner, rows)
        done(phase)
        unit = claim(phase)
    wait_for(phase, num_units)


def read_row(source, row, scratch):
    """Return a float32 row of a source, for compiled code alone; ``scratch`` may hold it."""
    raise NotImplementedError


@overload(read_row, jit_options=_OPTIONS)
def _read_row_of(source, row, scratch):
    # By type, not by a function that is passed: numba does not keep code that holds a function.
    kind: Any = getattr(source, "instance_class", None)
    return {NormSource: _read_normed, GateSource: _read_gated}.get(kind, _read_plain)


def _read_normed(source, row, scratch):
    # ``added`` may be wider than the residual stream: that is padding.
    residual = source.residual[row]
    normed = scratch[: residual.shape[0]]
    for k in range(residual.shape[0]):
        residual[k] += source.added[row, k]
    norm(residual, source.weight, source.eps, normed)
    return normed


def _read_gated(source, row, scratch):
    # SiLU of gate, times up (SwiGLU, arXiv 2002.05202)
    width = source.width
    gate, up, gated = source.gate_up[row, :width], source.gate_up[row, width:], scratch[:width]
    for k in range(width):
        gated[k] = gate[k] / (np.float32(1) + exp(-gate[k])) * up[k]
    return gated


def _read_plain(source, row, scratch):
    return source[row]


@njit(fastmath=True, error_model="numpy")
def norm(row, weight, eps, out):
    """Write a row divided by its root mean square, times a weight (RMSNorm, arXiv 1910.07467)."""
    total = np.float32(0)
    for k in range(row.shape[0]):
        total += row[k] * row[k]
    factor = np.float32(1) / np.sqrt(total / np.float32(row.shape[0]) + eps)
    for k in range(row.shape[0]):
        out[k] = row[k] * factor * weight[k]


@njit(fastmath=True, error_model="numpy")
def apply_adapter(first_row, end_row, adapter, inner, rows):
    """Multiply quantized rows by the adapter's down matrix, and quantize the product into the rows'
    last group. Frozen rows get zeros there. ``inner`` is memory for the products.
    """
    last, down = rows.num_groups - 1, adapter.down
    start = min(max(first_row, adapter.num_frozen), end_row)
    for row in range(first_row, start):
        for k in range(last * GROUP, rows.num_groups * GROUP):
            rows.quantized[row, k] = 0
        rows.scales[row * rows.num_groups + last] = 0
        rows.zeros[row * rows.num_groups + last] = 0
    for panel in range(down.panels.shape[0]):
        column = panel * num_lanes()
        multiply_panel(
            PanelAt(
                down.panels.ctypes.data + panel * down.panels.shape[1],
                down.last_scales.ctypes.data + 4 * column,
                last,
            ),
            rows,
            start,
            end_row - start,
            Strided(inner.ctypes.data + 4 * column, inner.shape[1]),
        )
    for row in range(start, end_row):
        for k in range(inner.shape[1]):
            inner[row - start, k] *= down.column_scales[k]
        quantize_row(inner[row - start], row, last, rows)


@njit(fastmath=True, error_model="numpy")
def finish_rows(phase, source, hidden):
    """Write the last norm: hidden states (rows, hidden)."""
    num_rows = hidden.shape[0]
    row = claim(phase)
    while row < num_rows:
        read_row(source, row, hidden[row])
        done(phase)
        row = claim(phase)
    wait_for(phase, num_rows)
