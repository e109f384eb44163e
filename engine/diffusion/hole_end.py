"""Where the hole ends within a canvas, as a position."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

EndPosition: TypeAlias = Callable[[Tensor], int | None]
"""ids (length,) → the position of the token that ends the hole, None if none does."""


def no_end(ids: Tensor) -> int | None:
    """Find no end: the hole is as long as the canvas."""
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class EndTokens:
    """The hole ends at the first of these tokens."""

    ids: frozenset[int]

    def __call__(self, ids: Tensor) -> int | None:
        return next((i for i, token in enumerate(ids.tolist()) if token in self.ids), None)


def is_before_end(ids: Tensor, end_position: EndPosition) -> Tensor:
    """Mark the positions up to the end, the end included; all positions if there is no end."""
    end = end_position(ids)
    positions = torch.arange(ids.shape[0], device=ids.device)
    return positions <= (ids.shape[0] if end is None else end)
