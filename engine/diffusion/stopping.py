"""When a canvas is done. Only free positions count; the loop itself handles the deadline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.prediction import Draft

EndPosition: TypeAlias = Callable[[Tensor], int | None]
"""ids (length,) → the position of the token that ends the hole, None if none does."""


def no_end(ids: Tensor) -> int | None:
    """Find no end: the hole is as long as the canvas."""
    return None


def is_before_end(ids: Tensor, end_position: EndPosition) -> Tensor:
    """Mark the positions up to the end, the end included; all positions if there is no end."""
    end = end_position(ids)
    positions = torch.arange(ids.shape[0], device=ids.device)
    return positions <= (ids.shape[0] if end is None else end)


Stop: TypeAlias = Callable[[TokenCanvas, Sequence[Draft]], bool]
"""(canvas after the step, drafts of all steps, the last one included) → whether it is done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StableAndConfident:
    """Stop once the free positions have not changed for some steps and have a low mean entropy."""

    stability_threshold: int  # earlier drafts that must equal this one; 0: none
    confidence_threshold: float  # nats

    def __post_init__(self) -> None:
        if self.stability_threshold < 0:
            raise ValueError(f"stability threshold must be >= 0, got {self.stability_threshold}")
        if not self.confidence_threshold > 0:
            raise ValueError(f"confidence threshold must be > 0, got {self.confidence_threshold}")

    def __call__(self, canvas: TokenCanvas, drafts: Sequence[Draft]) -> bool:
        is_free = canvas.is_free
        if not is_free.any():
            return True
        return self._is_stable(drafts) and bool(
            drafts[-1].entropies[is_free].mean() < self.confidence_threshold
        )

    def _is_stable(self, drafts: Sequence[Draft]) -> bool:
        earlier = drafts[:-1][-self.stability_threshold :] if self.stability_threshold else ()
        return len(earlier) == self.stability_threshold and all(
            torch.equal(draft.ids, drafts[-1].ids) for draft in earlier
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class AllAccepted:
    """Stop once all tokens up to the end of the hole are accepted; masks may remain after it."""

    end_position: EndPosition = no_end

    def __call__(self, canvas: TokenCanvas, drafts: Sequence[Draft]) -> bool:
        is_needed = canvas.is_free & is_before_end(drafts[-1].ids, self.end_position)
        return not bool((is_needed & ~canvas.is_accepted).any())
