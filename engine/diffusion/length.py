"""Rank the lengths of a hole: one pass over all candidates, the best fit of the suffix wins.

CAL (https://arxiv.org/abs/2602.00476) compares the entropy of the first prediction over the masks.
In uniform-state diffusion no position is marked as a mask, so the model predicts the given tokens
too: at a wrong length it would overwrite the suffix. On a toy that was trained to count, this found
the length in 32 of 32 cases; the entropy over the free positions did in 4 of 32 (by chance: 6).
Not measured on released weights; on our backbone no better than an end token (uniform-state.md).
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.candidate_lengths import NUM_SCORED
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.fill_control import FillControl

PredictEach: TypeAlias = Callable[[Sequence[TokenCanvas]], Sequence[Tensor]]
"""Canvases → their logits (length, vocab), from one pass."""


@torch.inference_mode()
def rank_lengths(
    predict_each: PredictEach,
    candidates: Sequence[int],
    canvas_of: Callable[[int], TokenCanvas],
    *,
    control: FillControl,
) -> tuple[list[int], int]:
    """Return the lengths, best first, and the passes made, one at most. Raises Cancelled."""
    if len(candidates) == 1:
        return list(candidates), 0
    control.checkpoint()
    canvases = [canvas_of(length) for length in candidates]
    logits = predict_each(canvases)
    surprises = [suffix_surprise(*each) for each in zip(logits, canvases, strict=True)]
    order = sorted(range(len(candidates)), key=surprises.__getitem__)
    return [candidates[i] for i in order], 1


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
