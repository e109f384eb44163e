"""The passes of self-speculative decoding: verify committed rows and draft with mask rows."""

from collections.abc import Sequence

import torch

from intarsia.engine.decoding.speculative import Verification
from intarsia.engine.decoding.tokens import ScoredToken
from intarsia.engine.families.masked_causal.backbone.rows import outcome_rows
from intarsia.engine.families.masked_causal.open_context import OpenContext


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
        """Keep the keys and values of the first tokens of the last pass.

        Each one's hidden state is kept too: once the user has typed it, a context ends there.
        """
        cache = self._context.cache
        for token, hidden in zip(self._last_tokens[:num_tokens], self._last_hidden, strict=False):
            cache.commit([token])
            cache.keep_last_hidden(hidden)
