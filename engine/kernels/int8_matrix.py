"""A matrix of bytes as the tiles read it, and rows of numbers as bytes.

A row of the matrix has one scale; a row that is multiplied has one for each GROUP of its numbers,
so that a few large ones spoil only their own group. Floats come in, panels and scales go out.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numba import njit

from intarsia.engine.kernels import CAN_KEEP, microkernels
from intarsia.engine.kernels.intrinsics import nearest
from intarsia.engine.kernels.microkernels import GROUP, LANES, ZERO
from intarsia.engine.kernels.work_units import finish, take, wait

Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Bytes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

_MOST = 127
_TINY = 1e-9  # stands for a row of zeros
_LINE = 64  # bytes: panels begin where a cache line does
_UNITS_A_THREAD = 8


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ByteMatrices:
    """Matrices (out, in) of one size, such as the layers' own.

    With a gated share (out, rank) each has one more group of columns: a row's inner numbers go
    there, zeros for a row that takes no part in it.
    """

    panels: Bytes  # (matrices, panels, bytes)
    scales: Floats  # (matrices, padded out)
    last_scales: Floats  # (matrices, padded out): of the last group, over ``scales``
    biases: Floats  # (matrices, padded out)
    num_out: int

    @property
    def num_groups(self) -> int:
        """Of one row that is multiplied."""
        return int(self.panels.shape[2]) // (GROUP * LANES)

    @property
    def num_padded(self) -> int:
        """Numbers of a row of products: up to a whole panel."""
        return int(self.scales.shape[1])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AdaptedInt8:
    """One part of all layers. ``inner``: the adapter's first matrices (rank, in), or none."""

    matrices: ByteMatrices
    inner: ByteMatrices

    def laid_out(self) -> tuple[Any, ...]:
        """Return what passes.py calls a part."""
        return (
            *(self.matrices.panels, self.matrices.scales, self.matrices.last_scales),
            *(self.matrices.biases, self.inner.panels, self.inner.scales),
            self.matrices.num_groups,
        )


def num_groups_of(num_in: int) -> int:
    return -(-num_in // GROUP)


def empty_matrices(count: int, num_out: int, num_in: int, *, is_gated: bool) -> ByteMatrices:
    """Return room for so many."""
    num_panels = -(-num_out // LANES)
    size = (num_groups_of(num_in) + is_gated) * GROUP * LANES
    padded = num_panels * LANES
    return ByteMatrices(
        panels=_aligned(count, num_panels, size),  # what is not written meets bytes that are zero
        scales=np.zeros((count, padded), np.float32),
        last_scales=np.ones((count, padded), np.float32),
        biases=np.zeros((count, padded), np.float32),
        num_out=num_out,
    )


def put(
    matrices: ByteMatrices,
    place: int,
    first_row: int,
    weight: Floats,
    *,
    bias: Floats | None = None,
    up: Floats | None = None,
) -> None:
    """Write some rows of a matrix as bytes, from a panel's first on. ``up`` (rows, rank) is their
    gated share. Raises ValueError where there is no room for them."""
    num_columns = (num_groups_of(weight.shape[1]) + (up is not None)) * GROUP
    is_narrow = up is None or 0 < up.shape[1] <= GROUP
    if first_row + len(weight) > matrices.num_padded or not is_narrow:
        raise ValueError(f"no room for {weight.shape} from row {first_row}")
    if num_columns > matrices.num_groups * GROUP:
        raise ValueError(f"no room for {num_columns} columns")
    rows = slice(first_row, first_row + len(weight))
    panels = matrices.panels[place, first_row // LANES : -(-rows.stop // LANES)]
    if bias is not None:
        matrices.biases[place, rows] = bias
    scales = matrices.scales[place, rows]
    _put_columns(weight, 0, panels, scales)
    if up is not None:
        own = matrices.last_scales[place, rows]
        _put_columns(up, num_groups_of(weight.shape[1]) * GROUP, panels, own)
        own /= scales


@njit(nogil=True, cache=CAN_KEEP, fastmath=True, error_model="numpy")
def _put_columns(numbers, first_column, panels, scales):
    """Write rows of numbers from a column on, and each row's scale: four columns of each of a
    panel's rows lie side by side, then the next four."""
    for row in range(numbers.shape[0]):
        most = np.float32(_TINY)
        for k in range(numbers.shape[1]):
            most = max(most, abs(numbers[row, k]))
        scales[row] = most / np.float32(_MOST)
        inverse = np.float32(_MOST) / most
        panel, lane = row // LANES, row % LANES
        for k in range(numbers.shape[1]):
            column = first_column + k
            at = column // 4 * 4 * LANES + 4 * lane + column % 4
            panels[panel, at] = np.uint8(np.int32(nearest(numbers[row, k] * inverse)) + ZERO)


def _aligned(*size: int) -> Bytes:
    whole = np.zeros(int(np.prod(size)) + _LINE, np.uint8)
    start = -whole.ctypes.data % _LINE
    return whole[start : start + int(np.prod(size))].reshape(size)


@njit(fastmath=True, error_model="numpy")
def as_bytes(numbers, row, first_group, num_groups, bytes_, scales, zeros):
    """Write numbers as bytes of a row, from a group of it on, with their groups' scales and what
    these groups' sums begin with."""
    for group in range((numbers.shape[0] + GROUP - 1) // GROUP):
        own = numbers[group * GROUP : (group + 1) * GROUP]
        to = bytes_[row, (first_group + group) * GROUP : (first_group + group + 1) * GROUP]
        most = np.float32(0)
        for k in range(own.shape[0]):
            most = max(most, abs(own[k]))
        inverse = np.float32(0) if most == 0 else np.float32(_MOST) / most
        total = np.int32(0)
        for k in range(own.shape[0]):
            number = np.int32(nearest(own[k] * inverse))
            to[k] = number
            total += number
        for k in range(own.shape[0], GROUP):
            to[k] = 0
        scales[row * num_groups + first_group + group] = most / np.float32(_MOST)
        zeros[row * num_groups + first_group + group] = -ZERO * total


@njit(fastmath=True, error_model="numpy")
def panel_products(
    panel, last, first_row, num_rows, bytes_, scales, zeros, apart, num_groups, y, y_stride
):
    """Write the products of rows and one panel, and up to seven rows more of no meaning. ``panel``,
    ``last`` and ``y`` are addresses, the last of the first row's own place."""
    x_stride = bytes_.shape[1]
    row = 0
    while row < num_rows:
        x = bytes_.ctypes.data + (first_row + row) * x_stride
        a = scales.ctypes.data + 4 * (first_row + row) * apart
        b = zeros.ctypes.data + 4 * (first_row + row) * apart
        to = y + 4 * row * y_stride
        left = num_rows - row
        if left > 4:
            microkernels.byte_tile_8(
                panel, last, x, x_stride, a, b, apart, num_groups, to, y_stride
            )
        elif left > 2:
            microkernels.byte_tile_4(
                panel, last, x, x_stride, a, b, apart, num_groups, to, y_stride
            )
        elif left == 2:
            microkernels.byte_tile_2(
                panel, last, x, x_stride, a, b, apart, num_groups, to, y_stride
            )
        else:
            microkernels.byte_tile_1(
                panel, last, x, x_stride, a, b, apart, num_groups, to, y_stride
            )
        row += 8


@njit(fastmath=True, error_model="numpy")
def multiply(
    counters, phase, num_threads, num_rows, panels, column_scales, last_scales, biases,
    bytes_, scales, zeros, y,
):  # fmt: skip
    """Write rows times one matrix into y (rows and some to spare, padded out)."""
    y_stride = y.shape[1]
    num_panels, panel_bytes = panels.shape
    num_groups = panel_bytes // (GROUP * LANES)
    size = max(1, num_panels // (_UNITS_A_THREAD * num_threads))
    num_units = (num_panels + size - 1) // size
    at = panels.ctypes.data
    unit = take(counters, phase)
    while unit < num_units:
        for panel in range(unit * size, min((unit + 1) * size, num_panels)):
            column = panel * LANES
            panel_products(
                at + panel * panel_bytes,
                last_scales.ctypes.data + 4 * column,
                np.int64(0),
                num_rows,
                bytes_,
                scales,
                zeros,
                num_groups,
                num_groups,
                y.ctypes.data + 4 * column,
                y_stride,
            )
            for row in range(num_rows):
                for lane in range(LANES):
                    y[row, column + lane] = (
                        y[row, column + lane] * column_scales[column + lane] + biases[column + lane]
                    )
        finish(counters, phase)
        unit = take(counters, phase)
    wait(counters, phase, num_units)
