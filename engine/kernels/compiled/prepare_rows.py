"""Quantize the rows that are multiplied next: normalized, gated, or as attention left them."""

from typing import Any

import numpy as np
from numba import carray
from numba.extending import overload

from intarsia.engine.kernels.compiled.intrinsics import allocate_floats, exp, free, kernel
from intarsia.engine.kernels.compiled.quantize import quantize_row
from intarsia.engine.kernels.compiled.work_units import claim, done, wait_for
from intarsia.engine.kernels.operands import GROUP, GateSource, NormSource

ROWS_PER_UNIT = 4
_OPTIONS = {"fastmath": True, "error_model": "numpy"}


@kernel
def prepare_rows(phase, source, rows):
    """Quantize all rows of a source."""
    num_units = (rows.num_rows + ROWS_PER_UNIT - 1) // ROWS_PER_UNIT
    memory = allocate_floats(rows.num_groups * GROUP)
    scratch = carray(memory, rows.num_groups * GROUP)
    unit = claim(phase)
    while unit < num_units:
        for row in range(unit * ROWS_PER_UNIT, min((unit + 1) * ROWS_PER_UNIT, rows.num_rows)):
            quantize_row(read_row(source, row, scratch), row, rows)
        done(phase)
        unit = claim(phase)
    free(memory)
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


@kernel
def norm(row, weight, eps, out):
    """Write a row divided by its root mean square, times a weight (RMSNorm, arXiv 1910.07467)."""
    total = np.float32(0)
    for k in range(row.shape[0]):
        total += row[k] * row[k]
    factor = np.float32(1) / np.sqrt(total / np.float32(row.shape[0]) + eps)
    for k in range(row.shape[0]):
        out[k] = row[k] * factor * weight[k]


@kernel
def finish_rows(phase, source, hidden):
    """Write the last norm: hidden states (rows, hidden)."""
    num_rows = hidden.shape[0]
    row = claim(phase)
    while row < num_rows:
        read_row(source, row, hidden[row])
        done(phase)
        row = claim(phase)
    wait_for(phase, num_rows)


@kernel
def copy_rows(phase, rows, copies):
    """Copy rows (rows, hidden)."""
    row = claim(phase)
    while row < rows.shape[0]:
        for k in range(rows.shape[1]):
            copies[row, k] = rows[row, k]
        done(phase)
        row = claim(phase)
    wait_for(phase, rows.shape[0])
