"""The log-probability of existing text in a canvas, by one denoising step for each hidden share.

Uniform-state diffusion has no sign for a hidden token: the model predicts a token at each position,
of a clean canvas too. So one pass over the text with a few tokens replaced is the model's own first
step on a nearly clean canvas: without self-conditioning, and at temperature 1.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import Predict
from intarsia.engine.families.diffusion_gemma.next_edit.hidden_text import NUM_PASSES, HiddenText
from intarsia.engine.fill_control import FillControl


@torch.inference_mode()
def log_probabilities(
    predict: Predict,
    hidden: HiddenText,
    following: Sequence[int],
    *,
    device: torch.device,
    control: FillControl,
) -> Tensor:
    """Return the log-probability (tokens,) of each token of a text where it is hidden.

    ``following`` are ids that the canvas shows after the text. Raises Cancelled between two passes.
    """
    shown = torch.tensor(following, dtype=torch.long)
    is_fixed = torch.arange(len(hidden.ids) + len(shown)) >= len(hidden.ids)
    found = torch.zeros(len(hidden.ids))
    for number in range(NUM_PASSES):
        at = (hidden.passes == number).nonzero()[:, 0]
        if not len(at):
            continue
        control.checkpoint()
        canvas = TokenCanvas(
            ids=torch.cat([hidden.shown_in(number), shown]).to(device),
            is_fixed=is_fixed.to(device),
            is_accepted=torch.zeros_like(is_fixed, device=device),
        )
        logits = predict(canvas, None)[at.to(device)].float()
        likely = logits.gather(-1, hidden.ids[at, None].to(device))[:, 0] - logits.logsumexp(dim=-1)
        found[at] = likely.cpu()
    return found
