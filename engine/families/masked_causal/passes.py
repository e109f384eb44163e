"""The forward passes of both ways of decoding, over the hole that follows an open context."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from intarsia.engine.arrays import Array, copied
from intarsia.engine.decoding.speculation_policy import NO_PROPOSAL, Proposal
from intarsia.engine.families.masked_causal.backbone.rows import branch_rows, frozen_rows
from intarsia.engine.families.masked_causal.open_context import OpenContext


class SpeculativePasses:
    """Passes after an open context (the ``Verifier`` of ``decoding/speculative.py``)."""

    def __init__(self, context: OpenContext) -> None:
        self._context = context
        self._last_tokens: list[int] = []
        self._last_hidden: Array = np.empty(0)  # (tokens, hidden)

    def verify(self, tokens: Sequence[int]) -> Array:
        """Run tokens after those kept; return logits (tokens, vocab) of the token after each."""
        backbone, cache = self._context.backbone, self._context.cache
        rows = frozen_rows(tokens, start=len(cache))
        hidden = backbone.forward(rows, cache)
        self._last_tokens, self._last_hidden = list(tokens), copied(hidden)
        return backbone.logits(hidden)

    def draft(self, newest: int, num_tokens: int, min_chance: float) -> Proposal:
        """Return up to ``num_tokens`` that may follow the newest one, which is not kept yet.

        They end where all of them together are less probable than ``min_chance``.
        """
        drafting = self._context.backbone.drafting
        if drafting is None:
            return NO_PROPOSAL
        return drafting.draft(newest, self._context.cache, num_tokens, min_chance=min_chance)

    def keep(self, num_tokens: int) -> None:
        """Keep the first tokens of the last pass; a context may end at any of these."""
        cache = self._context.cache
        for token, hidden in zip(self._last_tokens[:num_tokens], self._last_hidden, strict=False):
            cache.commit([token])
            cache.keep_last_hidden(hidden)


class RewritePasses(SpeculativePasses):
    """Passes after an open context (the ``BranchVerifier`` of ``decoding/rewrite.py``)."""

    def next_logits(self) -> Array:
        """Return logits (vocab,) of the hole's first token."""
        return self._context.next_logits()

    def branch(self, branches: Sequence[Sequence[int]]) -> list[Array]:
        """Return logits (tokens, vocab) after each token of each branch; none is held."""
        backbone, cache = self._context.backbone, self._context.cache
        rows = branch_rows(branches, start=len(cache))
        logits = backbone.logits(backbone.forward(rows, cache))
        ends = list(accumulate(map(len, branches)))
        return [logits[start:end] for start, end in pairwise([0, *ends])]

    def rewind(self) -> None:
        self._context.rewind()
