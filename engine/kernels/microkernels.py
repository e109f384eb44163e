"""The two innermost products, generated as LLVM code: a few rows by one panel of a matrix.

numba has no vector types, and the speed of a forward pass depends on these loops. A panel holds as
many columns of the result as a vector has lanes, stored so that each step reads the next full
vector. They take addresses and sizes, and write sums.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from intarsia.engine.kernels.dot_product import DotProduct, find_dot_product
from intarsia.engine.kernels.operands import PanelAt, RowsAt, Strided

GROUP = 64
"""Numbers of a row that share a scale. With 32 the products take an eighth longer."""

MAX_TILE_ROWS = 8
"""Rows of the largest tile: their sums stay in registers. The rows that remain take a tile of a
power of two, so int8 rows and their products need this many rows to spare."""

_STEPS = GROUP // 4
_CACHE_LINE = 64  # bytes
_STEPS_AHEAD = 128  # of keys or values to prefetch
_BYTES_AHEAD = 8192  # to prefetch: with eight rows the processor itself does not look so far ahead

_BYTE, _I32, _I64, _FLOAT = (ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType())


def num_lanes() -> int:
    """Return the lanes of this processor's dot product; compiled code may call it too."""
    return _dot_product().lanes


def zero_point() -> int:
    """Return the weight byte that means 0; compiled code may call it too."""
    return _dot_product().zero


@cache
def _dot_product() -> DotProduct:
    # Without the instruction no kernel is compiled, but sizes are still asked for.
    return find_dot_product() or DotProduct("none", 4, 0)


@overload(num_lanes)
def _num_lanes_in_kernels() -> Callable[[], int]:
    lanes = num_lanes()
    return lambda: lanes


@overload(zero_point)
def _zero_point_in_kernels() -> Callable[[], int]:
    zero = zero_point()
    return lambda: zero


class _Writer:
    """Writes LLVM instructions; base of both tiles."""

    def __init__(self, builder: Any, num_rows: int) -> None:
        self.builder = builder
        self.rows = range(num_rows)
        self.lanes = num_lanes()
        self.ints = ir.VectorType(_I32, self.lanes)
        self.floats = ir.VectorType(_FLOAT, self.lanes)
        # One copy of this code is long already: LLVM must not inline it into every caller.
        builder.function.attributes.add("noinline")

    def fields(self, operand: Any, kind: type) -> Any:
        """Return a named tuple of the operand's LLVM values."""
        num_fields = len(kind._fields)  # type: ignore[attr-defined]
        return kind(*(self.builder.extract_value(operand, i) for i in range(num_fields)))

    def number(self, value: int) -> Any:
        return ir.Constant(_I64, value)

    def at(self, address: Any, offset: Any) -> Any:
        return self.builder.add(address, offset)

    def times(self, value: Any, factor: int) -> Any:
        return self.builder.mul(value, self.number(factor))

    def load(self, address: Any, kind: Any, align: int) -> Any:
        loaded = self.builder.load(self.builder.inttoptr(address, kind.as_pointer()))
        loaded.align = align
        return loaded

    def prefetch(self, address: Any) -> None:
        """Fetch a cache line ahead of its use; the address need not exist."""
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _I32, _I32, _I32])
        function = self.builder.module.declare_intrinsic("llvm.prefetch.p0", (), kind)
        hints = [ir.Constant(_I32, hint) for hint in (0, 2, 1)]  # read, some locality, data
        self.builder.call(function, [self.builder.inttoptr(address, _BYTE.as_pointer()), *hints])

    def store(self, vector: Any, address: Any) -> None:
        written = self.builder.store(
            vector, self.builder.inttoptr(address, vector.type.as_pointer())
        )
        written.align = 4

    def splat(self, value: Any, kind: Any) -> Any:
        """Return a vector with the value in every lane."""
        empty = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(empty, value, ir.Constant(_I32, 0))
        return self.builder.shuffle_vector(first, empty, ir.Constant(self.ints, [0] * self.lanes))

    def fma(self, x: Any, y: Any, added: Any) -> Any:
        name, kind = "llvm.fma", ir.FunctionType(self.floats, [self.floats] * 3)
        function = self.builder.module.declare_intrinsic(f"{name}.v{self.lanes}f32", (), kind)
        return self.builder.call(function, [x, y, added])

    def loop(self, count: Any, body: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
        """Run ``body(step, sums)``, which returns new sums, ``count`` times; return the sums of
        all rows, which start with zeros."""
        before = self.builder.block
        head = self.builder.append_basic_block("head")
        inside = self.builder.append_basic_block("body")
        end = self.builder.append_basic_block("end")
        self.builder.branch(head)
        self.builder.position_at_end(head)
        step = self.builder.phi(_I64)
        step.add_incoming(self.number(0), before)
        sums = [self.builder.phi(self.floats) for _ in self.rows]
        for value in sums:
            value.add_incoming(ir.Constant(self.floats, [0.0] * self.lanes), before)
        self.builder.cbranch(self.builder.icmp_unsigned("<", step, count), inside, end)
        self.builder.position_at_end(inside)
        for value, new in zip(sums, body(step, sums), strict=True):
            value.add_incoming(new, self.builder.block)
        step.add_incoming(self.at(step, self.number(1)), self.builder.block)
        self.builder.branch(head)
        self.builder.position_at_end(end)
        return sums


class _Int8Tile(_Writer):
    """Writes the product of int8 rows and a panel."""

    def __init__(self, builder: Any, num_rows: int, panel: Any, x: Any) -> None:
        super().__init__(builder, num_rows)
        self.bytes = ir.VectorType(_BYTE, 4 * self.lanes)
        self.panel, self.x = self.fields(panel, PanelAt), self.fields(x, RowsAt)
        kind = ir.FunctionType(self.ints, [self.ints, self.bytes, self.bytes])
        name = _dot_product().intrinsic
        self.dot = builder.module.declare_intrinsic(name, (), kind)
        self.x_rows = [self.at(self.x.address, self.times(self.x.stride, r)) for r in self.rows]
        self.offsets = [self.times(self.x.num_groups, 4 * r) for r in self.rows]

    def write(self, y: Any) -> None:
        """Write the sums of all groups to ``y``; the last group has scales of its own."""
        y = self.fields(y, Strided)
        last = self.builder.sub(self.panel.num_groups, self.number(1))
        sums = self.loop(last, self.add_group)
        sums = self.add_group(last, sums, self.load(self.panel.last_scales, self.floats, 4))
        for r in self.rows:
            self.store(sums[r], self.at(y.address, self.times(y.stride, 4 * r)))

    def add_group(self, group: Any, sums: list[Any], last_scales: Any = None) -> list[Any]:
        """Return the rows' sums with one more group's products added."""
        group_offset = self.times(group, 4)
        products = self.multiply_group(group, group_offset)
        new = []
        for r in self.rows:
            address = self.at(self.at(self.x.scales, self.offsets[r]), group_offset)
            scale = self.splat(self.load(address, _FLOAT, 4), self.floats)
            if last_scales is not None:
                scale = self.builder.fmul(scale, last_scales)
            new.append(self.fma(self.builder.sitofp(products[r], self.floats), scale, sums[r]))
        return new

    def multiply_group(self, group: Any, group_offset: Any) -> list[Any]:
        """Return the rows' 32-bit sums of one group, which begin with ``zeros``."""
        sums = [
            self.splat(
                self.load(self.at(self.at(self.x.zeros, offset), group_offset), _I32, 4), self.ints
            )
            for offset in self.offsets
        ]
        step_bytes = 4 * self.lanes
        first = self.at(self.panel.address, self.times(group, _STEPS * step_bytes))
        in_row = self.times(group, GROUP)
        for step in range(_STEPS):
            offset = step * step_bytes
            if offset % _CACHE_LINE == 0:
                self.prefetch(self.at(first, self.number(offset + _BYTES_AHEAD)))
            weights = self.load(self.at(first, self.number(offset)), self.bytes, step_bytes)
            for r in self.rows:
                four = self.at(self.at(self.x_rows[r], in_row), self.number(4 * step))
                numbers = self.builder.bitcast(
                    self.splat(self.load(four, _I32, 4), self.ints), self.bytes
                )
                sums[r] = self.builder.call(self.dot, [sums[r], weights, numbers])
        return sums


class _FloatTile(_Writer):
    """Writes the product of float32 rows and bfloat16 keys or values."""

    def __init__(self, builder: Any, num_rows: int, x: Any, b: Any) -> None:
        super().__init__(builder, num_rows)
        self.halves = ir.VectorType(ir.IntType(16), self.lanes)
        self.x, self.b = self.fields(x, Strided), self.fields(b, Strided)
        self.x_rows = [self.at(self.x.address, self.times(self.x.stride, 4 * r)) for r in self.rows]

    def write(self, count: Any, y: Any) -> None:
        y = self.fields(y, Strided)
        for r, total in enumerate(self.loop(count, self.add_step)):
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
                self.splat(self.load(self.at(self.x_rows[r], in_row), _FLOAT, 4), self.floats),
                lanes,
                sums[r],
            )
            for r in self.rows
        ]


def _int8_tile(num_rows: int) -> Any:
    """Return ``tile(panel, x, y)``: the product of int8 rows and one panel.

    y[r, lane] = Σ over groups of scales[r, group] · (bytes of x[r] · bytes of the panel's lane),
    the last group's share times last_scales[lane]. Each group's sum begins with zeros[r, group],
    which takes off what ``zero_point`` adds to the panel's bytes.
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
