"""Write vector instructions into a compiled kernel: the base of all tiles.

numba has no vector types, so the innermost loops are written in LLVM's language. A tile is one
compiled function: a few rows by one or more panels of a matrix.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.extending import overload

from intarsia.engine.kernels.processor import dot_product, num_lanes, zero_point

BYTE, I32, I64, FLOAT = (ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType())
_BOOL, _I16 = ir.IntType(1), ir.IntType(16)


@overload(num_lanes)
def _num_lanes_in_kernels() -> Callable[[], int]:
    lanes = num_lanes()
    return lambda: lanes


@overload(zero_point)
def _zero_point_in_kernels() -> Callable[[], int]:
    zero = zero_point()
    return lambda: zero


class VectorWriter:
    """Writes LLVM instructions; base of all tiles."""

    def __init__(self, builder: Any, num_rows: int) -> None:
        self.builder = builder
        self.rows = range(num_rows)
        self.lanes = num_lanes()
        self.ints = ir.VectorType(I32, self.lanes)
        self.floats = ir.VectorType(FLOAT, self.lanes)
        self.bytes = ir.VectorType(BYTE, 4 * self.lanes)
        # One copy of this code is long already: LLVM must not inline it into every caller.
        builder.function.attributes.add("noinline")

    def fields(self, operand: Any, kind: type) -> Any:
        """Return a named tuple of the operand's LLVM values."""
        num_fields = len(kind._fields)  # type: ignore[attr-defined]
        return kind(*(self.builder.extract_value(operand, i) for i in range(num_fields)))

    def number(self, value: int) -> Any:
        return ir.Constant(I64, value)

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
        hints = [ir.Constant(I32, hint) for hint in (0, 2, 1)]  # read, some locality, data
        pointer = self.builder.inttoptr(address, BYTE.as_pointer())
        self.call("llvm.prefetch.p0", ir.VoidType(), [pointer, *hints])

    def store(self, vector: Any, address: Any) -> None:
        written = self.builder.store(
            vector, self.builder.inttoptr(address, vector.type.as_pointer())
        )
        written.align = 4

    def splat(self, value: Any, kind: Any) -> Any:
        """Return a vector with the value in every lane."""
        empty = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(empty, value, ir.Constant(I32, 0))
        return self.builder.shuffle_vector(first, empty, ir.Constant(self.ints, [0] * self.lanes))

    def fma(self, x: Any, y: Any, added: Any) -> Any:
        return self.call(f"llvm.fma.v{self.lanes}f32", self.floats, [x, y, added])

    def four_numbers(self, address: Any) -> Any:
        """Return a vector with the four bytes at an address in every lane."""
        return self.builder.bitcast(self.splat(self.load(address, I32, 4), self.ints), self.bytes)

    def dot(self, sums: Any, weights: Any, numbers: Any) -> Any:
        """Return the 32-bit sums plus, in each lane, four products of a weight and a number."""
        name = dot_product().intrinsic
        if name is not None:
            return self.call(name, self.ints, [sums, weights, numbers])
        # AVX2 multiplies unsigned bytes by signed ones and adds pairs in 16 bits. Without the
        # weights' signs, which the numbers take over, a pair is at most 2 · 127 · 127: it fits.
        # LLVM computes |weights| once for all rows.
        positive = self.call(
            f"llvm.abs.v{4 * self.lanes}i8", self.bytes, [weights, ir.Constant(_BOOL, 1)]
        )
        signed = self.call("llvm.x86.avx2.psign.b", self.bytes, [numbers, weights])
        pairs_type = ir.VectorType(_I16, 2 * self.lanes)
        pairs = self.call("llvm.x86.avx2.pmadd.ub.sw", pairs_type, [positive, signed])
        ones = ir.Constant(pairs_type, [1] * (2 * self.lanes))
        fours = self.call("llvm.x86.avx2.pmadd.wd", self.ints, [pairs, ones])
        return self.builder.add(sums, fours)

    def call(self, intrinsic: str, result: Any, arguments: list[Any]) -> Any:
        """Return what an LLVM intrinsic returns; its name has the types that it is made for."""
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return self.builder.call(
            self.builder.module.declare_intrinsic(intrinsic, (), kind), arguments
        )

    def repeat(
        self, count: int, body: Callable[[Any, list[Any]], list[Any]], sums: Sequence[Any]
    ) -> list[Any]:
        """Do as ``loop``, but without a loop where a product is one instruction.

        Where it is several, LLVM would take them row by row, and keep the weights in memory.
        """
        if dot_product().intrinsic is None:
            return self.loop(self.number(count), body, sums)
        for step in range(count):
            sums = body(self.number(step), list(sums))
        return list(sums)

    def loop(
        self, count: Any, body: Callable[[Any, list[Any]], list[Any]], sums: Sequence[Any]
    ) -> list[Any]:
        """Run ``body(step, sums)`` ``count`` times; return its last sums. ``sums``: the first."""
        before = self.builder.block
        head = self.builder.append_basic_block("head")
        inside = self.builder.append_basic_block("body")
        end = self.builder.append_basic_block("end")
        self.builder.branch(head)
        self.builder.position_at_end(head)
        step = self.builder.phi(I64)
        step.add_incoming(self.number(0), before)
        phis = [self.builder.phi(first.type) for first in sums]
        for phi, first in zip(phis, sums, strict=True):
            phi.add_incoming(first, before)
        self.builder.cbranch(self.builder.icmp_unsigned("<", step, count), inside, end)
        self.builder.position_at_end(inside)
        for phi, new in zip(phis, body(step, phis), strict=True):
            phi.add_incoming(new, self.builder.block)
        step.add_incoming(self.at(step, self.number(1)), self.builder.block)
        self.builder.branch(head)
        self.builder.position_at_end(end)
        return phis

    def zeros(self, count: int) -> list[Any]:
        """Return vectors of zeros in float32."""
        return [ir.Constant(self.floats, [0.0] * self.lanes)] * count
