"""The two innermost products, in LLVM's own language: a few rows by one panel of a matrix.

numba has no vectors; these are the only places where the speed of all hangs on them. A panel is as
many columns of the result as a vector has lanes, and a step of one lies in a vector's width: all is
read in order. Addresses and sizes come in, sums go out.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from intarsia.engine.kernels.dot_product import DotProduct, find_dot_product

GROUP = 64
"""Numbers of a row that share a scale. Of 32 each the products take an eighth longer."""

MOST_ROWS = 8
"""Of a tile: their sums stay in registers. Rows that are left over take a tile of a power of two,
so what holds rows of bytes, or of their products, has as many rows to spare."""

_DOT = find_dot_product() or DotProduct("none", 4, 0)
LANES = _DOT.lanes
ZERO = _DOT.zero

_BYTE, _INT, _WIDE, _FLOAT = (ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType())
_BYTES = ir.VectorType(_BYTE, 4 * LANES)
_INTS = ir.VectorType(_INT, LANES)
_HALVES = ir.VectorType(ir.IntType(16), LANES)
_FLOATS = ir.VectorType(_FLOAT, LANES)
_BYTES_A_STEP = 4 * LANES
_STEPS = GROUP // 4
_LINE = 64  # bytes of memory that come together
_STEPS_AHEAD = 128  # of keys or values
_AHEAD = 8192  # bytes: products of eight rows leave the processor no room to look so far itself


class _Writer:
    """What both products are written with."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        # One copy of this code is much already: LLVM is not to lay it into every caller.
        builder.function.attributes.add("noinline")

    def number(self, value: int) -> Any:
        return ir.Constant(_WIDE, value)

    def at(self, address: Any, offset: Any) -> Any:
        return self.builder.add(address, offset)

    def times(self, value: Any, factor: int) -> Any:
        return self.builder.mul(value, self.number(factor))

    def load(self, address: Any, kind: Any, align: int) -> Any:
        found = self.builder.load(self.builder.inttoptr(address, kind.as_pointer()))
        found.align = align
        return found

    def fetch(self, address: Any) -> None:
        """Have a line of memory come nearer; it need not exist."""
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT, _INT, _INT])
        function = self.builder.module.declare_intrinsic("llvm.prefetch.p0", (), kind)
        hints = [ir.Constant(_INT, hint) for hint in (0, 2, 1)]  # to read, often, data
        self.builder.call(function, [self.builder.inttoptr(address, _BYTE.as_pointer()), *hints])

    def store(self, vector: Any, address: Any) -> None:
        written = self.builder.store(
            vector, self.builder.inttoptr(address, vector.type.as_pointer())
        )
        written.align = 4

    def spread(self, value: Any, kind: Any) -> Any:
        """Return a vector of one number."""
        empty = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(empty, value, ir.Constant(_INT, 0))
        return self.builder.shuffle_vector(first, empty, ir.Constant(_INTS, [0] * LANES))

    def fused(self, x: Any, y: Any, added: Any) -> Any:
        name, kind = "llvm.fma", ir.FunctionType(_FLOATS, [_FLOATS] * 3)
        function = self.builder.module.declare_intrinsic(f"{name}.v{LANES}f32", (), kind)
        return self.builder.call(function, [x, y, added])

    def loop(self, count: Any, num_sums: int, body: Callable[[Any, list[Any]], list[Any]]) -> Any:
        """Run ``body`` (number of the turn, sums → sums) ``count`` times; return the sums."""
        before = self.builder.block
        head = self.builder.append_basic_block("head")
        turn = self.builder.append_basic_block("turn")
        end = self.builder.append_basic_block("end")
        self.builder.branch(head)
        self.builder.position_at_end(head)
        number = self.builder.phi(_WIDE)
        number.add_incoming(self.number(0), before)
        sums = [self.builder.phi(_FLOATS) for _ in range(num_sums)]
        for one in sums:
            one.add_incoming(ir.Constant(_FLOATS, [0.0] * LANES), before)
        self.builder.cbranch(self.builder.icmp_unsigned("<", number, count), turn, end)
        self.builder.position_at_end(turn)
        for one, new in zip(sums, body(number, sums), strict=True):
            one.add_incoming(new, self.builder.block)
        number.add_incoming(self.at(number, self.number(1)), self.builder.block)
        self.builder.branch(head)
        self.builder.position_at_end(end)
        return sums


def _byte_tile(num_rows: int) -> Any:
    """Return ``tile``: products of rows of bytes and one panel of them.

    y[r, lane] = Σ over groups of scales[r, group] · (bytes of x[r] · bytes of the panel's lane),
    the last group's share times last_scales[lane]. Strides count numbers; ``apart`` is that of
    scales and of zeros (r, group), with which each sum begins: they take off what ZERO adds to the
    panel's bytes.
    """

    @intrinsic
    def tile(
        context: Any,
        panel: Any,
        last_scales: Any,
        x: Any,
        x_stride: Any,
        scales: Any,
        zeros: Any,
        apart: Any,
        num_groups: Any,
        y: Any,
        y_stride: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            panel, last_scales, x, x_stride, scales, zeros, apart, num_groups, y, y_stride = given
            write, rows = _Writer(builder), range(num_rows)
            kind = ir.FunctionType(_INTS, [_INTS, _BYTES, _BYTES])
            dot = builder.module.declare_intrinsic(_DOT.intrinsic, (), kind)
            x_rows = [write.at(x, write.times(x_stride, r)) for r in rows]
            of_row = [write.times(apart, 4 * r) for r in rows]

            def group(number: Any, sums: list[Any], last: Any = None) -> list[Any]:
                beside = write.times(number, 4)
                found = [
                    write.spread(write.load(write.at(write.at(zeros, by), beside), _INT, 4), _INTS)
                    for by in of_row
                ]
                first = write.at(panel, write.times(number, _STEPS * _BYTES_A_STEP))
                along = write.times(number, GROUP)
                for step in range(_STEPS):
                    if step * _BYTES_A_STEP % _LINE == 0:
                        write.fetch(write.at(first, write.number(step * _BYTES_A_STEP + _AHEAD)))
                    lane = write.load(
                        write.at(first, write.number(step * _BYTES_A_STEP)), _BYTES, _BYTES_A_STEP
                    )
                    for r in rows:
                        four = write.at(write.at(x_rows[r], along), write.number(4 * step))
                        bytes_ = builder.bitcast(
                            write.spread(write.load(four, _INT, 4), _INTS), _BYTES
                        )
                        found[r] = builder.call(dot, [found[r], lane, bytes_])
                new = []
                for r in rows:
                    at = write.at(write.at(scales, of_row[r]), beside)
                    scale = write.spread(write.load(at, _FLOAT, 4), _FLOATS)
                    scale = scale if last is None else builder.fmul(scale, last)
                    new.append(write.fused(builder.sitofp(found[r], _FLOATS), scale, sums[r]))
                return new

            others = builder.sub(num_groups, write.number(1))
            sums = write.loop(others, num_rows, group)
            sums = group(others, sums, write.load(last_scales, _FLOATS, 4))
            for r in rows:
                write.store(sums[r], write.at(y, write.times(y_stride, 4 * r)))
            return context.get_dummy_value()

        return types.void(*[types.intp] * 10), generate

    return tile


def _float_tile(num_rows: int) -> Any:
    """Return ``tile(x, x_stride, b, b_stride, count, y, y_stride)``.

    y[r, lane] = Σ over t < count of x[r, t] · b[t, lane]; x and y are float32, b is bfloat16.
    Strides count numbers.
    """

    @intrinsic
    def tile(
        context: Any,
        x: Any,
        x_stride: Any,
        b: Any,
        b_stride: Any,
        count: Any,
        y: Any,
        y_stride: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            x, x_stride, b, b_stride, count, y, y_stride = given
            write, rows = _Writer(builder), range(num_rows)
            x_rows = [write.at(x, write.times(x_stride, 4 * r)) for r in rows]

            def turn(number: Any, sums: list[Any]) -> list[Any]:
                step = write.at(b, builder.mul(number, write.times(b_stride, 2)))
                write.fetch(write.at(step, write.times(b_stride, 2 * _STEPS_AHEAD)))
                halves = write.load(step, _HALVES, 2)
                raised = builder.shl(builder.zext(halves, _INTS), ir.Constant(_INTS, [16] * LANES))
                lane, along = builder.bitcast(raised, _FLOATS), write.times(number, 4)
                return [
                    write.fused(
                        write.spread(write.load(write.at(x_rows[r], along), _FLOAT, 4), _FLOATS),
                        lane,
                        sums[r],
                    )
                    for r in rows
                ]

            for r, found in enumerate(write.loop(count, num_rows, turn)):
                write.store(found, write.at(y, write.times(y_stride, 4 * r)))
            return context.get_dummy_value()

        return types.void(*[types.intp] * 7), generate

    return tile


byte_tile_1, byte_tile_2, byte_tile_4, byte_tile_8 = (_byte_tile(rows) for rows in (1, 2, 4, 8))
float_tile_1, float_tile_4, float_tile_8 = (_float_tile(rows) for rows in (1, 4, 8))
