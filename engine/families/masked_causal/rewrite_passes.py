"""The passes of rewriting a draft: verify tokens, and score several continuations at once."""

from collections.abc import Sequence

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.rows import branch_rows
from intarsia.engine.families.masked_causal.speculative_passes import SpeculativePasses


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
        """Forget all tokens of the hole."""
        self._context.rewind()
