"""The acceptance rule of speculative decoding: which drafted tokens the backbone accepts.

Greedy verification: a drafted token is accepted while it is the backbone's own likeliest token, so
the text is the backbone's own (compare Leviathan et al., arXiv 2211.17192, at temperature 0).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from intarsia.engine.decoding.hole_request import EndRule


def accept_draft(
    causal: Tensor, before: Sequence[int], proposed: Sequence[int], end_rule: EndRule
) -> list[int]:
    """Return the proposed tokens that the backbone predicts too, and its own next token."""
    tokens: list[int] = []
    for row, likeliest in enumerate(causal.argmax(dim=-1).tolist()):
        is_early_end = likeliest in end_rule.ids and not end_rule.may_follow([*before, *tokens])
        tokens.append(_likeliest_except(end_rule.ids, causal[row]) if is_early_end else likeliest)
        if row >= len(proposed) or tokens[row] != proposed[row]:
            break
    return tokens


def _likeliest_except(ids: frozenset[int], logits: Tensor) -> int:
    others = logits.index_fill(0, torch.tensor(list(ids), device=logits.device), -torch.inf)
    return int(others.argmax())
