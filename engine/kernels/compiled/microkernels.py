"""The two innermost products, generated as LLVM code: a few rows by one panel of a matrix.

numba has no vector types, and the speed of a forward pass depends on these loops. A panel holds as
many columns of the result as a vector has lanes, stored so that each step reads the next full
vector. They take addresses and sizes, and write sums.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from intarsia.engine.arrays import CACHE_LINE
from intarsia.engine.kernels.compiled.vector_writer import (
    FLOAT,
    I32,
    VectorWriter,
)
from intarsia.engine.kernels.operands import GROUP, RowsAt, Strided

_STEPS = GROUP // 4
_STEPS_AHEAD = 128  # of keys or values to prefetch
_BYTES_AHEAD = 8192  # to prefetch: with eight rows the processor itself does not look so far ahead


class _Int8Tile(VectorWriter):
    """Writes the product of int8 rows and a panel."""

    def __init__(self, builder: Any, num_rows: int, panel: Any, x: Any) -> None:
        super().__init__(builder, num_rows)
        self.panel, self.x = panel, self.fields(x, RowsAt)
        self.x_rows = [self.at(self.x.address, self.times(self.x.stride, r)) for r in self.rows]
        self.offsets = [self.times(self.x.num_groups, 4 * r) for r in self.rows]

    def write(self, y: Any) -> None:
        """Write the sums of all groups to ``y``."""
        y = self.fields(y, Strided)
        sums = self.loop(self.x.num_groups, self.add_group, self.zeros(len(self.rows)))
        for r in self.rows:
            self.store(sums[r], self.at(y.address, self.times(y.stride, 4 * r)))

    def add_group(self, group: Any, sums: list[Any]) -> list[Any]:
        """Return the rows' sums with one more group's products added."""
        group_offset = self.times(group, 4)
        products = self.multiply_group(group, group_offset)
        new = []
        for r in self.rows:
            address = self.at(self.at(self.x.scales, self.offsets[r]), group_offset)
            scale = self.splat(self.load(address, FLOAT, 4), self.floats)
            new.append(self.fma(self.builder.sitofp(products[r], self.floats), scale, sums[r]))
        return new

    def multiply_group(self, group: Any, group_offset: Any) -> list[Any]:
        """Return the rows' 32-bit sums of one group, which begin with ``zeros``."""
        sums = [
            self.splat(
                self.load(self.at(self.at(self.x.zeros, offset), group_offset), I32, 4), self.ints
            )
            for offset in self.offsets
        ]
        step_bytes = 4 * self.lanes
        first = self.at(self.panel, self.times(group, _STEPS * step_bytes))
        in_row = self.times(group, GROUP)
        steps_a_line = CACHE_LINE // step_bytes

        def add_line(line: Any, sums: list[Any]) -> list[Any]:
            address = self.at(first, self.times(line, CACHE_LINE))
            self.prefetch(self.at(address, self.number(_BYTES_AHEAD)))
            for step in range(steps_a_line):
                weights = self.load(
                    self.at(address, self.number(step * step_bytes)), self.bytes, step_bytes
                )
                column = self.at(
                    in_row, self.at(self.times(line, 4 * steps_a_line), self.number(4 * step))
                )
                sums = [
                    self.dot(total, weights, self.four_numbers(self.at(x_row, column)))
                    for total, x_row in zip(sums, self.x_rows, strict=True)
                ]
            return sums

        return self.repeat(_STEPS // steps_a_line, add_line, sums)


class _FloatTile(VectorWriter):
    """Writes the product of float32 rows and bfloat16 keys or values."""

    def __init__(self, builder: Any, num_rows: int, x: Any, b: Any) -> None:
        super().__init__(builder, num_rows)
        self.halves = ir.VectorType(ir.IntType(16), self.lanes)
        self.x, self.b = self.fields(x, Strided), self.fields(b, Strided)
        self.x_rows = [self.at(self.x.address, self.times(self.x.stride, 4 * r)) for r in self.rows]

    def write(self, count: Any, y: Any) -> None:
        y = self.fields(y, Strided)
        sums = self.loop(count, self.add_step, self.zeros(len(self.rows)))
        for r, total in enumerate(sums):
            self.store(total, self.at(y.address, self.times(y.stride, 4 * r)))

    def add_step(self, step: Any, sums: list[Any]) -> list[Any]:
        """Return the rows' sums with the products of one row of ``b`` added."""
        address = self.at(self.b.address, self.builder.mul(step, self.times(self.b.stride, 2)))
        self.prefetch(self.at(address, self.times(self.b.stride, 2 * _STEPS_AHEAD)))
        halves = self.load(address, self.halves, 2)
        shift = ir.Constant(self.ints, [16] * self.lanes)
        bits = self.builder.shl(self.builder.zext(halves, self.ints), shift)
        lanes, in_row = self.builder.bitcast(bits, self.floats), self.times(step, 4)
        return [
            self.fma(
                self.splat(self.load(self.at(self.x_rows[r], in_row), FLOAT, 4), self.floats),
                lanes,
                sums[r],
            )
            for r in self.rows
        ]


def _int8_tile(num_rows: int) -> Any:
    """Return ``tile(panel, x, y)``: the product of int8 rows and the panel at an address.

    y[r, lane] = Σ over groups of scales[r, group] · (bytes of x[r] · bytes of the panel's lane).
    Each group's sum begins with zeros[r, group], which takes off what ``zero_point`` adds to the
    panel's bytes.
    """

    @intrinsic
    def tile(context: Any, panel: Any, x: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            panel, x, y = arguments
            _Int8Tile(builder, num_rows, panel, x).write(y)
            return context.get_dummy_value()

        return types.void(panel, x, y), generate

    return tile


def _float_tile(num_rows: int) -> Any:
    """Return ``tile(x, b, count, y)``: the product of float32 rows and bfloat16 keys or values.

    y[r, lane] = Σ over t < count of x[r, t] · b[t, lane]; x and y are float32, b is bfloat16.
    """

    @intrinsic
    def tile(context: Any, x: Any, b: Any, count: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, b, count, y = arguments
            _FloatTile(builder, num_rows, x, b).write(count, y)
            return context.get_dummy_value()

        return types.void(x, b, types.intp, y), generate

    return tile


int8_tile_1, int8_tile_2, int8_tile_4, int8_tile_8 = (_int8_tile(rows) for rows in (1, 2, 4, 8))
float_tile_1, float_tile_4, float_tile_8 = (_float_tile(rows) for rows in (1, 4, 8))
