"""When a canvas is done: the canvas and all drafts so far come in, yes or no goes out.

Only free positions are asked. Deadline and cancel are the loop's own, not here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.draft import Draft
from intarsia.engine.diffusion.hole_end import FindEnd, is_before_end, no_end

Stop: TypeAlias = Callable[[TokenCanvas, Sequence[Draft]], bool]
"""(canvas after the step, drafts of all steps, this one last) → is it done."""


def never_stop(canvas: TokenCanvas, drafts: Sequence[Draft]) -> bool:
    """Run all steps."""
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class StableAndConfident:
    """The free part of the draft stood still for some steps and its mean entropy is low."""

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
class AllSettled:
    """Everything up to the end of the hole is settled; behind it masks may remain."""

    find_end: FindEnd = no_end

    def __call__(self, canvas: TokenCanvas, drafts: Sequence[Draft]) -> bool:
        is_needed = canvas.is_free & is_before_end(drafts[-1].ids, self.find_end)
        return not bool((is_needed & ~canvas.is_settled).any())
