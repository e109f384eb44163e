"""Build the rows of a pass, which follow ``start`` tokens: ids, positions, attention masks."""

from collections.abc import Sequence

import torch

from intarsia.engine.families.masked_causal.backbone.interface import Rows


def frozen_rows(
    tokens: Sequence[int], *, start: int, device: torch.device, num_hidden: int | None = None
) -> Rows:
    """Return causal rows of known tokens; the last ``num_hidden`` give hidden states, or all."""
    num = len(tokens)
    return Rows(
        ids=torch.tensor(tokens, dtype=torch.long, device=device),
        positions=torch.arange(start, start + num, device=device),
        visible=torch.ones(num, start + num, dtype=torch.bool, device=device).tril(start),
        num_hidden=num_hidden,
    )


def branch_rows(branches: Sequence[Sequence[int]], *, start: int, device: torch.device) -> Rows:
    """Return rows of several continuations, which see the context but not each other."""
    lengths = [len(branch) for branch in branches]
    num = sum(lengths)
    visible = torch.zeros(num, start + num, dtype=torch.bool)
    visible[:, :start] = True
    first = 0
    for n in lengths:
        visible[first : first + n, start + first : start + first + n] = torch.ones(n, n).tril() > 0
        first += n
    return Rows(
        ids=torch.tensor([i for branch in branches for i in branch], dtype=torch.long).to(device),
        positions=torch.cat([torch.arange(start, start + n) for n in lengths]).to(device),
        visible=visible.to(device),
    )
