"""The product of a few int8 rows and a block of panels, for passes over many rows.

Each number of a row meets all panels of the block once it is loaded, and each vector of a panel
meets all rows, so that the processor multiplies in nearly every cycle. It adds up in the same order
as the tiles of ``microkernels.py``: a row's products are the same to the bit in both.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from intarsia.engine.kernels.microkernels import GROUP
from intarsia.engine.kernels.operands import BlockAt, RowsAt, Strided
from intarsia.engine.kernels.vector_writer import (
    BYTE,
    FLOAT,
    I32,
    VectorWriter,
    dot_product,
)

BLOCK_ROWS = 6
"""Rows of a tile; with four panels and a broadcast number they take 29 of 32 registers."""

_STEPS = GROUP // 4
_MANY_REGISTERS = 32


def block_panels() -> int:
    """Return how many panels a block has; compiled code may call it too."""
    return 4 if dot_product().registers >= _MANY_REGISTERS else 2


@overload(block_panels)
def _block_panels_in_kernels() -> Any:
    panels = block_panels()
    return lambda: panels


class _BlockTile(VectorWriter):
    """Writes the product of ``BLOCK_ROWS`` int8 rows and a block of panels.

    The 32-bit sums of one group are in registers, the float32 sums of all groups in memory.
    """

    def __init__(self, builder: Any, block: Any, x: Any) -> None:
        super().__init__(builder, BLOCK_ROWS)
        self.panels = range(block_panels())
        self.bytes = ir.VectorType(BYTE, 4 * self.lanes)
        self.block, self.x = self.fields(block, BlockAt), self.fields(x, RowsAt)
        kind = ir.FunctionType(self.ints, [self.ints, self.bytes, self.bytes])
        self.dot = builder.module.declare_intrinsic(dot_product().intrinsic, (), kind)
        self.addresses = [
            self.at(self.block.address, builder.mul(self.block.panel_bytes, self.number(p)))
            for p in self.panels
        ]
        self.x_rows = [self.at(self.x.address, self.times(self.x.stride, r)) for r in self.rows]
        self.offsets = [self.times(self.x.num_groups, 4 * r) for r in self.rows]
        self.memory = self.aligned_memory(len(self.rows) * len(self.panels))

    def write(self, y: Any) -> None:
        """Write the products to ``y``, multiplied by the columns' scales and with their biases."""
        y = self.fields(y, Strided)
        for i, zeros in enumerate(self.zeros(len(self.rows) * len(self.panels))):
            self.store(zeros, self.lanes_at(self.memory, i))
        self.loop(self.block.num_groups, self.add_group, [])
        self.loop(self.block.num_last_groups, self.add_last_group, [])
        memory = self.hidden(self.memory)
        for p in self.panels:
            scales = self.load_lanes(self.block.column_scales, p)
            biases = self.load_lanes(self.block.biases, p)
            for r in self.rows:
                total = self.load(self.sum_at(memory, r, p), self.floats, 4)
                address = self.at(y.address, self.times(y.stride, 4 * r))
                self.store(self.fma(total, scales, biases), self.lanes_at(address, p))

    def lanes_at(self, address: Any, panel: int) -> Any:
        """Return the address of a panel's numbers in a row of float32."""
        return self.at(address, self.number(4 * panel * self.lanes))

    def load_lanes(self, address: Any, panel: int) -> Any:
        return self.load(self.lanes_at(address, panel), self.floats, 4)

    def sum_at(self, memory: Any, row: int, panel: int) -> Any:
        """Return the address of the float32 sums of one row and panel."""
        return self.lanes_at(memory, row * len(self.panels) + panel)

    def add_group(self, group: Any, _: list[Any], *, is_last: bool = False) -> list[Any]:
        """Add one group's products."""
        group_offset = self.times(group, 4)
        products = iter(self.multiply_group(group, group_offset))
        memory = self.hidden(self.memory)
        for r in self.rows:
            address = self.at(self.at(self.x.scales, self.offsets[r]), group_offset)
            row_scale = self.splat(self.load(address, FLOAT, 4), self.floats)
            for p in self.panels:
                scale = row_scale
                if is_last:
                    last_scales = self.load_lanes(self.block.last_scales, p)
                    scale = self.builder.fmul(row_scale, last_scales)
                total = self.load(self.sum_at(memory, r, p), self.floats, 4)
                product = self.builder.sitofp(next(products), self.floats)
                self.store(self.fma(product, scale, total), self.sum_at(memory, r, p))
        return []

    def add_last_group(self, step: Any, _: list[Any]) -> list[Any]:
        """Add the products of the last group, which has scales of its own."""
        return self.add_group(self.at(self.block.num_groups, step), [], is_last=True)

    def multiply_group(self, group: Any, group_offset: Any) -> list[Any]:
        """Return the 32-bit sums of one group, row by row, which begin with ``zeros``."""
        sums = []
        for offset in self.offsets:
            address = self.at(self.at(self.x.zeros, offset), group_offset)
            sums += [self.splat(self.load(address, I32, 4), self.ints)] * len(self.panels)
        first = self.times(group, _STEPS)

        def add_step(step: Any, sums: list[Any]) -> list[Any]:
            return self.add_step(self.at(first, step), sums)

        return self.loop(self.block.num_steps, add_step, sums)

    def add_step(self, step: Any, sums: list[Any]) -> list[Any]:
        """Return the sums with four more numbers of each row."""
        step_bytes = 4 * self.lanes
        in_panel, in_row = self.times(step, step_bytes), self.times(step, 4)
        ahead = self.builder.mul(step, self.block.ahead_bytes)
        self.prefetch(self.at(self.block.ahead, ahead))
        weights = [
            self.load(self.at(address, in_panel), self.bytes, step_bytes)
            for address in self.addresses
        ]
        new = []
        for r in self.rows:
            four = self.load(self.at(self.x_rows[r], in_row), I32, 4)
            numbers = self.builder.bitcast(self.splat(four, self.ints), self.bytes)
            for p in self.panels:
                total = sums[r * len(self.panels) + p]
                new.append(self.builder.call(self.dot, [total, weights[p], numbers]))
        return new


@intrinsic
def multiply_block(context: Any, block: Any, x: Any, y: Any) -> Any:
    """Write the products of ``BLOCK_ROWS`` rows from ``x`` on and a BlockAt to the Strided ``y``.

    As ``int8_tile`` of microkernels.py for each panel, times the columns' scales plus their biases.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        block, x, y = arguments
        _BlockTile(builder, block, x).write(y)
        return context.get_dummy_value()

    return types.void(block, x, y), generate
