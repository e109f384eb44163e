"""Choose the length of a hole: one forward pass per candidate, the best fit of the suffix wins.

CAL (https://arxiv.org/abs/2602.00476) compares the entropy of the first prediction over the masks.
In uniform-state diffusion no position is marked as a mask, so the model predicts the given tokens
too: at a wrong length it would overwrite the suffix. On a toy that was trained to count, this found
the length in 32 of 32 cases; the entropy over the free positions did in 4 of 32 (by chance: 6).
Not measured on released weights.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from intarsia.engine.diffusion.candidate_lengths import NUM_SCORED
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import Predict
from intarsia.engine.fill_control import FillControl


@torch.inference_mode()
def choose_length(
    predict: Predict,
    candidates: Sequence[int],
    canvas_of: Callable[[int], TokenCanvas],
    *,
    control: FillControl,
) -> tuple[int, int]:
    """Return the best length tried before the deadline, and the passes. Raises Cancelled."""
    if len(candidates) == 1:
        return candidates[0], 0
    surprises: dict[int, float] = {}
    for length in candidates:
        control.checkpoint()
        canvas = canvas_of(length)
        surprises[length] = suffix_surprise(predict(canvas, None), canvas)
        if control.is_late:
            break
    first_best = min(surprises, key=lambda length: surprises[length])
    return first_best, len(surprises)


def suffix_surprise(logits: Tensor, canvas: TokenCanvas) -> float:
    """Return the mean surprise (nats) at the given tokens right after the last free position.

    A canvas without a suffix (the hole is longer than one canvas) scores as a uniform guess: it
    wins only if the suffix is less likely than that at every other length.
    """
    start = int(canvas.is_free.nonzero().max()) + 1
    ids = canvas.ids[start : start + NUM_SCORED]
    if len(ids) == 0:
        return math.log(logits.shape[-1])
    log_probabilities = torch.log_softmax(logits[start : start + len(ids)].float(), dim=-1)
    return -float(log_probabilities.gather(-1, ids[:, None]).mean())
