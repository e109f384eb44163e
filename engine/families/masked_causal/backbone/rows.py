"""Build the rows of a pass, which follow ``start`` tokens: ids, positions, attention masks."""

from collections.abc import Sequence

import numpy as np

from intarsia.engine.families.masked_causal.backbone.interface import Rows


def frozen_rows(tokens: Sequence[int], *, start: int, num_hidden: int | None = None) -> Rows:
    """Return causal rows of known tokens; the last ``num_hidden`` give hidden states, or all."""
    num = len(tokens)
    return Rows(
        ids=np.array(tokens, np.int64),
        positions=np.arange(start, start + num),
        visible=np.tri(num, start + num, start, dtype=np.bool_),
        num_hidden=num_hidden,
    )


def branch_rows(branches: Sequence[Sequence[int]], *, start: int) -> Rows:
    """Return rows of several continuations, which see the context but not each other."""
    lengths = [len(branch) for branch in branches]
    num = sum(lengths)
    visible = np.zeros((num, start + num), np.bool_)
    visible[:, :start] = True
    first = 0
    for n in lengths:
        visible[first : first + n, start + first : start + first + n] = np.tri(n, dtype=np.bool_)
        first += n
    return Rows(
        ids=np.array([i for branch in branches for i in branch], np.int64),
        positions=np.concatenate([np.arange(start, start + n) for n in lengths]),
        visible=visible,
    )
