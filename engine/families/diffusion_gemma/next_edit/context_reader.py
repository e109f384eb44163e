"""Reads the contexts of next edits, apart from the context that fills hold.

Fills may run at any checkpoint, and need their own context there. So the backbone holds a context
of this reader only within one pass.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import Predict
from intarsia.engine.families.diffusion_gemma.backbone.model import (
    CHUNK,
    DiffusionGemmaBackbone,
    EncodedContext,
)
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.fill_control import FillControl

_MAX_HELD_TOKENS = 4_096  # of all contexts: some 0.9 GB with the released model in bfloat16


class ContextReader:
    """Contexts that were read are held, so that a later one reads only what it does not share."""

    def __init__(self, backbone: DiffusionGemmaBackbone) -> None:
        self._backbone = backbone
        self._held: list[EncodedContext] = []  # least recently used first
        self.begin_round()

    def begin_round(self) -> None:
        """Begin to count tokens, each of a round's contexts once: computed, or held before it."""
        self._seen: list[Sequence[int]] = []
        self.num_computed = 0
        self.num_reused = 0

    def read(self, ids: Sequence[int], control: FillControl) -> EncodedContext:
        """Return the context of these ids.

        Raises Cancelled between two chunks; what was read before it is held.
        """
        context = self._longest_beginning(ids)
        seen = max((common_prefix_length(other, ids) for other in self._seen), default=0)
        self.num_reused += max(0, len(context.ids) - seen)
        self._seen.append(ids)
        try:
            for end in [*range(len(context.ids) + CHUNK, len(ids), CHUNK), len(ids)]:
                if end == len(context.ids):
                    break
                control.checkpoint()
                context = self._prefill(context, ids[:end])
        finally:
            self._hold(context)
        return context

    def predict_after(self, context: EncodedContext) -> Predict:
        """Return the forward pass of canvases that follow a context."""

        def predict(canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
            own = self._backbone.exchange(context)
            try:
                return self._backbone.predict(canvas, self_conditioning)
            finally:
                self._backbone.exchange(own)

        return predict

    @torch.inference_mode()
    def _longest_beginning(self, ids: Sequence[int]) -> EncodedContext:
        """Return the longest beginning of the ids that is held here or for fills."""
        of_fills = self._backbone.exchange(None)
        self._backbone.exchange(of_fills)
        best, num_best = of_fills, 0
        for held in (of_fills, *self._held):
            num_shared = common_prefix_length(held.ids, ids)
            if num_shared > num_best:
                best, num_best = held, num_shared
        return best.beginning(num_best)

    def _prefill(self, context: EncodedContext, ids: Sequence[int]) -> EncodedContext:
        own = self._backbone.exchange(context.beginning(len(context.ids)))
        try:
            self.num_computed += self._backbone.prefill(ids).num_computed
        finally:
            read = self._backbone.exchange(own)
        return read

    def _hold(self, context: EncodedContext) -> None:
        num_tokens = len(context.ids)
        kept = [context]
        for held in reversed(self._held):  # the most recently used first
            is_beginning = context.ids[: len(held.ids)] == held.ids
            num_tokens += 0 if is_beginning else len(held.ids)
            if not is_beginning and num_tokens <= _MAX_HELD_TOKENS:
                kept.append(held)
        self._held = kept[::-1]
