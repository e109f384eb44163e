"""The passes of entropy-bounded unmasking: predict a canvas after the hole's earlier tokens."""

from collections.abc import Sequence

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.families.masked_causal.backbone.rows import canvas_rows
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.protocol import common_prefix_length


class CanvasPasses:
    """Passes after an open context (the ``CanvasPredictor`` of ``decoding/entropy.py``)."""

    def __init__(self, context: OpenContext) -> None:
        self.mask_id = context.backbone.mask_id
        self._context = context
        self._written: list[int] = []  # hole tokens before the open canvas
        self._causal_logits: list[Tensor] = []  # (vocab,) after each hole token in the cache

    def open_canvas(self, written: Sequence[int]) -> None:
        """Set the hole tokens between the context and the next canvas."""
        self._written = list(written)
        if not written:
            self._causal_logits = []

    def predict(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (length, vocab) of each canvas position; its first token must be known.

        Leading known tokens take the frozen path, once. The backbone itself predicts these and the
        first masked position; the canvas rows predict the positions after it. There is no
        self-conditioning.
        """
        is_known = (canvas.is_fixed | canvas.is_accepted).tolist()
        ids = canvas.ids.tolist()
        num_leading = next((i for i, known in enumerate(is_known) if not known), len(ids))
        frozen = self._not_held([*self._written, *ids[:num_leading]])
        backbone, cache = self._context.backbone, self._context.cache
        rows = canvas_rows(frozen, ids[num_leading:], start=len(cache), device=backbone.device)
        logits = backbone.logits(backbone.forward(rows, cache))
        logits[:, self.mask_id] = -torch.inf
        cache.commit(frozen)
        self._causal_logits += logits[: len(frozen)].unbind()
        causal = self._causal_logits[len(self._written) :]
        # The row at position p predicts the token at p + 1; the first token is known.
        predictions = [torch.zeros_like(causal[0]), *causal, *logits[len(frozen) : -1].unbind()]
        return torch.stack(predictions[: len(ids)])

    def _not_held(self, leading: list[int]) -> list[int]:
        """Forget held hole tokens that differ from the leading ones; return those not held."""
        context = self._context
        num_held = min(
            common_prefix_length(context.cache.ids[context.length :], leading),
            len(self._causal_logits),
        )
        context.cache.crop(context.length + num_held)
        del self._causal_logits[num_held:]
        return leading[num_held:]
