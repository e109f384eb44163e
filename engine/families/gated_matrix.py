"""A matrix that treats rows in two ways: frozen ones as the backbone does, canvas rows with the
adapter's share on top. Knows neither layers nor tokens."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from intarsia.engine.families.low_rank import LowRank
from intarsia.engine.families.matrix import Matrix, PlainMatrix


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GatedMatrix:
    """(out, in). ``up`` is None where there is no adapter."""

    matrix: Matrix  # where there is no ``down`` of its own, the adapter's lies below
    num_out: int
    down: Matrix | None  # (rank, in)
    up: Matrix | None  # (out, rank)

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        """Return (rows, out) of (rows, in); the first rows are frozen."""
        y = self.matrix.multiply(x)
        if self.up is None:
            return y
        y, below = y[:, : self.num_out], y[num_frozen:, self.num_out :]
        if num_frozen < len(x):
            inner = self.down.multiply(x[num_frozen:]) if self.down else below.contiguous()
            y[num_frozen:] += self.up.multiply(inner)
        return y


def ungated(matrix: Matrix, num_out: int) -> GatedMatrix:
    """Return a matrix without an adapter."""
    return GatedMatrix(matrix=matrix, num_out=num_out, down=None, up=None)


def apart(matrix: Matrix, low_rank: LowRank) -> GatedMatrix:
    """Return a matrix that stays as it is, mapped perhaps, with an adapter beside it."""
    return GatedMatrix(
        matrix=matrix,
        num_out=len(low_rank.up),
        down=PlainMatrix(low_rank.down),
        up=PlainMatrix(low_rank.up),
    )


def joined(
    weight: Tensor,
    bias: Tensor | None,
    low_rank: LowRank,
    *,
    matrix_of: Callable[[Tensor, Tensor | None], Matrix],
    up_of: Callable[[Tensor], Matrix],
) -> GatedMatrix:
    """Return a matrix that makes the adapter's first product in its own: one that is copied
    anyway. A product of few numbers takes about as long as one of thousands."""
    rank = len(low_rank.down)
    longer = None if bias is None else torch.cat([bias, bias.new_zeros(rank)])
    return GatedMatrix(
        matrix=matrix_of(torch.cat([weight, low_rank.down]), longer),
        num_out=len(weight),
        down=None,
        up=up_of(low_rank.up),
    )
