"""One fill in one call, and the same by transformers' own greedy search."""

import time
from functools import cache
from pathlib import Path
from typing import Any

import torch
from toy_causal import toy_text
from transformers import AutoModelForCausalLM, PreTrainedModel

from intarsia.engine.families.masked_causal.context_boundary import boundary_offset
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled


def run_fill(filler: Filler, request: Fill, **control: Any) -> Filled:
    """Fill now; ``control`` has the options of ``FillControl.for_request``."""
    options = {"received_at": time.monotonic()} | control
    return filler.fill(request, FillControl.for_request(request, **options))


@cache
def reference(folder: Path) -> PreTrainedModel:
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return model.eval()


@cache
def greedy(folder: Path, context: tuple[int, ...], num_tokens: int) -> list[int]:
    """Return transformers' answer, the end token included."""
    with torch.inference_mode():
        ids = reference(folder).generate(
            torch.tensor([context]),
            attention_mask=torch.ones(1, len(context), dtype=torch.long),
            do_sample=False,
            max_new_tokens=num_tokens,
            eos_token_id=sorted(toy_text(folder).end_ids),
            pad_token_id=0,
        )
    return [int(i) for i in ids[0, len(context) :]]


def greedy_fill(folder: Path, prefix: str, suffix: str, num_tokens: int) -> tuple[str, list[int]]:
    """Return the text and all tokens that transformers writes into a hole.

    The context ends lines above the hole: what follows begins the middle.
    """
    text, offset = toy_text(folder), boundary_offset(prefix) or len(prefix)
    context = text.context(text.encode(prefix[:offset]), text.encode(suffix))
    ids = greedy(folder, (*context, *text.encode(prefix[offset:])), num_tokens)
    return "".join(text.pieces([i for i in ids if i not in text.end_ids], num_given=0)), ids
