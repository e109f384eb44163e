"""The tokens of a hole as values: what is proposed, what is committed, and where a hole may end.

Logits come in, ids with confidence and entropy go out. Knows no text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import torch
from torch import Tensor

FindEnd: TypeAlias = Callable[[Sequence[int]], int | None]
"""Hole ids → how many of them the hole needs, None while it has not ended."""


def ends_anywhere(ids: Sequence[int]) -> bool:
    """A hole may end behind any of its tokens."""
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class Ends:
    """Tokens that end a hole, and whether one may stand behind these tokens of it."""

    ids: frozenset[int] = frozenset()
    may_follow: Callable[[Sequence[int]], bool] = ends_anywhere


ANYWHERE = Ends()


@dataclass(kw_only=True, slots=True)
class Settled:
    """Hole tokens in order; the first ``num_committed`` are the backbone's own."""

    ids: list[int]
    confidences: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    num_committed: int = 0
    num_forwards: int = 0
    finish_reason: Literal["end", "max_tokens", "max_steps", "deadline"] = "end"


OnRound: TypeAlias = Callable[[int, Settled], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredToken:
    """A token with the distribution that it was taken from."""

    id: int
    confidence: float  # its probability
    entropy: float  # nats


def score_tokens(logits: Tensor, ids: Sequence[int]) -> list[ScoredToken]:
    """Return the ids with probability and entropy under their rows of logits (rows, vocab)."""
    log_p = torch.log_softmax(logits.float(), dim=-1)
    p = log_p.exp()
    entropies = -(p * log_p).sum(dim=-1)
    chosen = p.gather(-1, torch.tensor(ids, device=p.device)[:, None]).squeeze(-1)
    return [
        ScoredToken(id=i, confidence=c, entropy=e)
        for i, c, e in zip(ids, chosen.tolist(), entropies.tolist(), strict=True)
    ]


def cut(
    text: Settled, length: int, reason: Literal["end", "max_tokens", "max_steps", "deadline"]
) -> Settled:
    """Return the first ``length`` tokens of a hole, and why it ends there."""
    return Settled(
        ids=text.ids[:length],
        confidences=text.confidences[:length],
        entropies=text.entropies[:length],
        num_committed=min(text.num_committed, length),
        num_forwards=text.num_forwards,
        finish_reason=reason,
    )
