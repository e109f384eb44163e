"""The draft of the whole answer after each denoising step, accepted or not.

With a draft at every step, a deadline can return a whole hole at any time.
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
    """The whole answer, every position of the canvas."""

    ids: Tensor  # (length,) long
    confidences: Tensor  # (length,) probability of each id when it was chosen
    entropies: Tensor  # (length,) nats of the distribution it was chosen from


WriteDraft: TypeAlias = Callable[[TokenCanvas, TokenCanvas, Prediction, Draft | None], Draft]
"""(canvas before the step, canvas after it, prediction, last draft) → the next draft."""


def draft_likeliest(
    before: TokenCanvas, after: TokenCanvas, prediction: Prediction, previous: Draft | None
) -> Draft:
    """Take the likeliest token everywhere: nothing is final before the end (uniform-state)."""
    ids = torch.where(after.is_fixed, after.ids, prediction.likeliest)
    return Draft(ids=ids, confidences=prediction.confidence_of(ids), entropies=prediction.entropies)


def draft_accepted(
    before: TokenCanvas, after: TokenCanvas, prediction: Prediction, previous: Draft | None
) -> Draft:
    """Keep accepted tokens, take the likeliest token elsewhere (masked diffusion).

    A token keeps the confidence and entropy under which it was accepted.
    """
    is_known = after.is_fixed | after.is_accepted
    ids = torch.where(is_known, after.ids, prediction.likeliest)
    confidences, entropies = prediction.confidence_of(ids), prediction.entropies
    if previous is not None:
        is_kept = before.is_accepted & after.is_accepted
        confidences = torch.where(is_kept, previous.confidences, confidences)
        entropies = torch.where(is_kept, previous.entropies, entropies)
    return Draft(ids=ids, confidences=confidences, entropies=entropies)
