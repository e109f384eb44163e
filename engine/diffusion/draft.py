"""The whole answer as it stands after a step, at every position, settled or not.

Canvas before and after the step and the step's prediction come in; ids with their confidence and
entropy go out. A deadline can so return a whole hole at any step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.prediction import Prediction


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Draft:
    """One whole answer."""

    ids: Tensor  # (length,) long
    confidences: Tensor  # (length,) probability of each id when it was chosen
    entropies: Tensor  # (length,) nats of the distribution it was chosen from


WriteDraft: TypeAlias = Callable[[TokenCanvas, TokenCanvas, Prediction, Draft | None], Draft]
"""(canvas before the step, canvas after it, prediction, the draft before) → the draft now."""


def draft_likeliest(
    before: TokenCanvas, after: TokenCanvas, prediction: Prediction, previous: Draft | None
) -> Draft:
    """Take the likeliest token everywhere: nothing is final before the end (uniform-state)."""
    ids = torch.where(after.is_fixed, after.ids, prediction.likeliest)
    return Draft(ids=ids, confidences=prediction.confidence_of(ids), entropies=prediction.entropies)


def draft_settled(
    before: TokenCanvas, after: TokenCanvas, prediction: Prediction, previous: Draft | None
) -> Draft:
    """Keep what is settled as it was settled; the likeliest token elsewhere (masked diffusion)."""
    is_known = after.is_fixed | after.is_settled
    ids = torch.where(is_known, after.ids, prediction.likeliest)
    confidences, entropies = prediction.confidence_of(ids), prediction.entropies
    if previous is not None:
        is_kept = before.is_settled & after.is_settled
        confidences = torch.where(is_kept, previous.confidences, confidences)
        entropies = torch.where(is_kept, previous.entropies, entropies)
    return Draft(ids=ids, confidences=confidences, entropies=entropies)
