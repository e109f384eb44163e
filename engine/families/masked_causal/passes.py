"""The forward passes of the three ways of decoding, over the hole that follows an open context."""

from collections.abc import Sequence

import torch
from torch import Tensor

from intarsia.engine.decoding.speculative import Verification
from intarsia.engine.decoding.tokens import ScoredToken
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.families.masked_causal.backbone.rows import (
    branch_rows,
    canvas_rows,
    outcome_rows,
)
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.protocol import common_prefix_length


class SpeculativePasses:
    """Passes after an open context (the ``Verifier`` of ``decoding/speculative.py``)."""

    def __init__(self, context: OpenContext) -> None:
        self._context = context
        self._last_tokens: list[int] = []
        self._last_hidden = torch.empty(0)  # (tokens, hidden)

    def verify(self, tokens: Sequence[int], masks: Sequence[int]) -> Verification:
        """Run the tokens on the frozen path, with ``masks[j]`` mask rows after token j."""
        backbone, cache = self._context.backbone, self._context.cache
        rows = outcome_rows(
            tokens, masks, start=len(cache), mask_id=backbone.mask_id, device=backbone.device
        )
        hidden = backbone.forward(rows, cache)
        self._last_tokens, self._last_hidden = list(tokens), hidden[: len(tokens)].clone()
        causal, drafted = torch.split(backbone.logits(hidden), [len(tokens), sum(masks)])
        proposals = torch.split(drafted, list(masks))
        hidden_of = torch.split(hidden[len(tokens) :], list(masks))

        def sample_serially(outcome: int, last_token: int) -> list[ScoredToken]:
            return backbone.sample_serially(hidden_of[outcome], proposals[outcome], last_token)

        return Verification(
            causal=causal,
            proposals=proposals,
            sample_serially=sample_serially if backbone.has_head else None,
        )

    def keep(self, num_tokens: int) -> None:
        """Keep the first tokens of the last pass; a context may end at any of these."""
        cache = self._context.cache
        for token, hidden in zip(self._last_tokens[:num_tokens], self._last_hidden, strict=False):
            cache.commit([token])
            cache.keep_last_hidden(hidden)


class RewritePasses(SpeculativePasses):
    """Passes after an open context (the ``BranchVerifier`` of ``decoding/rewrite.py``)."""

    def next_logits(self) -> Tensor:
        """Return logits (vocab,) of the hole's first token."""
        return self._context.next_logits()

    def branch(self, branches: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return logits (tokens, vocab) after each token of each branch; none is held."""
        backbone, cache = self._context.backbone, self._context.cache
        rows = branch_rows(branches, start=len(cache), device=backbone.device)
        logits = backbone.logits(backbone.forward(rows, cache))
        return list(torch.split(logits, [len(branch) for branch in branches]))

    def rewind(self) -> None:
        self._context.rewind()


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
