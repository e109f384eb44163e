"""The rows of a pass that judges several continuations of one context."""

from collections.abc import Sequence

import torch

from intarsia.engine.families.causal_backbone import Rows


def branch_rows(branches: Sequence[Sequence[int]], *, start: int, device: torch.device) -> Rows:
    """Return frozen rows of continuations that see the context and themselves, not each other."""
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
        num_frozen=num,
        visible=visible.to(device),
    )
