"""The product of a few int8 rows and one or two panels, for passes over many rows.

Each number of a row meets all panels of the block once it is loaded, and each vector of a panel
meets all rows. All sums stay in registers, so that the processor multiplies in nearly every cycle.
It adds up in the same order as the tiles of ``microkernels.py``: a row's products are the same to
the bit in both.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic, overload

from intarsia.engine.arrays import CACHE_LINE
from intarsia.engine.kernels.compiled.vector_writer import (
    FLOAT,
    I32,
    VectorWriter,
)
from intarsia.engine.kernels.operands import GROUP, BlockAt, RowsAt, Strided
from intarsia.engine.kernels.processor import dot_product

BLOCK_ROWS = 6
"""Rows of the largest tile. With two panels, 12 sums of a group, 12 sums of all groups, two vectors
of weights and a broadcast number take 27 of 32 registers."""

_STEPS = GROUP // 4
_MANY_REGISTERS = 32


def block_panels() -> int:
    """Return how many panels a block has; compiled code may call it too."""
    return 2 if dot_product().registers >= _MANY_REGISTERS else 1


@overload(block_panels)
def _block_panels_in_kernels() -> Any:
    panels = block_panels()
    return lambda: panels


class _BlockTile(VectorWriter):
    """Writes the product of int8 rows and a block of panels."""

    def __init__(self, builder: Any, num_rows: int, block: Any, x: Any) -> None:
        super().__init__(builder, num_rows)
        self.panels = range(block_panels())
        self.block, self.x = self.fields(block, BlockAt), self.fields(x, RowsAt)
        self.addresses = [
            self.at(self.block.address, self.times(self.block.panel_bytes, p)) for p in self.panels
        ]
        self.x_rows = [self.at(self.x.address, self.times(self.x.stride, r)) for r in self.rows]
        self.offsets = [self.times(self.x.num_groups, 4 * r) for r in self.rows]

    def write(self, y: Any) -> None:
        """Write the products to ``y``, multiplied by the columns' scales and with their biases."""
        y = self.fields(y, Strided)
        sums = self.zeros(len(self.rows) * len(self.panels))
        totals = iter(self.loop(self.x.num_groups, self.add_group, sums))
        columns = [
            (self.of_panel(self.block.column_scales, p), self.of_panel(self.block.biases, p))
            for p in self.panels
        ]
        for r in self.rows:
            address = self.at(y.address, self.times(y.stride, 4 * r))
            for p, (scales, biases) in enumerate(columns):
                target = self.at(address, self.number(4 * p * self.lanes))
                self.store(self.fma(next(totals), scales, biases), target)

    def of_panel(self, address: Any, panel: int) -> Any:
        """Return one number for each column of a panel."""
        return self.load(self.at(address, self.number(4 * panel * self.lanes)), self.floats, 4)

    def add_group(self, group: Any, sums: list[Any]) -> list[Any]:
        """Return the sums, row by row, with one more group's products."""
        self.fetch_ahead(group)
        group_offset = self.times(group, 4)
        products = self.multiply_group(group, group_offset)
        new = []
        for r in self.rows:
            address = self.at(self.at(self.x.scales, self.offsets[r]), group_offset)
            scale = self.splat(self.load(address, FLOAT, 4), self.floats)
            for p in self.panels:
                i = r * len(self.panels) + p
                new.append(self.fma(self.builder.sitofp(products[i], self.floats), scale, sums[i]))
        return new

    def fetch_ahead(self, group: Any) -> None:
        """Fetch this group's share of what the next blocks read."""
        lines = self.builder.mul(group, self.block.lines_ahead)
        first = self.at(self.block.ahead, self.times(lines, CACHE_LINE))

        def fetch(line: Any, _: list[Any]) -> list[Any]:
            self.prefetch(self.at(first, self.times(line, CACHE_LINE)))
            return []

        self.loop(self.block.lines_ahead, fetch, [])

    def multiply_group(self, group: Any, group_offset: Any) -> list[Any]:
        """Return the 32-bit sums of one group, row by row, which begin with ``zeros``."""
        sums = []
        for offset in self.offsets:
            address = self.at(self.at(self.x.zeros, offset), group_offset)
            sums += [self.splat(self.load(address, I32, 4), self.ints)] * len(self.panels)
        first = self.times(group, _STEPS)
        return self.repeat(_STEPS, lambda i, sums: self.add_step(self.at(first, i), sums), sums)

    def add_step(self, step: Any, sums: list[Any]) -> list[Any]:
        """Return the sums with four more numbers of each row."""
        step_bytes = 4 * self.lanes
        in_panel, in_row = self.times(step, step_bytes), self.times(step, 4)
        weights = [
            self.load(self.at(address, in_panel), self.bytes, step_bytes)
            for address in self.addresses
        ]
        new = []
        for r in self.rows:
            numbers = self.four_numbers(self.at(self.x_rows[r], in_row))
            for p in self.panels:
                total = sums[r * len(self.panels) + p]
                new.append(self.dot(total, weights[p], numbers))
        return new


def _block_tile(num_rows: int) -> Any:
    """Return ``tile(block, x, y)``: the product of rows from ``x`` on and a BlockAt, to ``y``.

    As ``int8_tile`` of microkernels.py for each panel, times the columns' scales plus their biases.
    """

    @intrinsic
    def tile(context: Any, block: Any, x: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            block, x, y = arguments
            _BlockTile(builder, num_rows, block, x).write(y)
            return context.get_dummy_value()

        return types.void(block, x, y), generate

    return tile


block_tile_2, block_tile_4, block_tile_6 = (_block_tile(rows) for rows in (2, 4, BLOCK_ROWS))
