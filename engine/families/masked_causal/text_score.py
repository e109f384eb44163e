"""Score a text after the open context by its log-probability on the frozen path."""

from collections.abc import Sequence

import torch

from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.fill_control import FillControl


@torch.inference_mode()
def log_probability(
    context: OpenContext, tokens: Sequence[int], start: int, control: FillControl
) -> float:
    """Return the log-probability of tokens[start:] after the open context and tokens[:start].

    None of these tokens is held afterwards. Raises Cancelled between two chunks.
    """
    hidden = [context.end_of_context()[None]]
    chunk = context.backbone.chunk_tokens
    for first in range(0, len(tokens) - 1, chunk):
        control.checkpoint()
        hidden.append(context.read(tokens[first : first + chunk]))
    context.rewind()
    logits = context.backbone.logits(torch.cat(hidden)[start : len(tokens)])
    scored = torch.tensor(tokens[start:], device=logits.device)
    log_p = torch.log_softmax(logits.float(), dim=-1)
    return float(log_p.gather(-1, scored[:, None]).sum())
