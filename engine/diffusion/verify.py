"""Settle a hole by proposal and proof: the canvas proposes, the frozen path keeps or names anew.

One pass a round: frozen rows judge the last proposal, and behind each outcome (so many of its
tokens kept) a canvas already proposes what comes next (TiDAR, arXiv 2511.08923;
gated masks, arXiv 2507.11851).
The text is the backbone's own greedy text; only the number of passes changes. Knows ids, no text.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.lookup import continue_from_earlier
from intarsia.engine.diffusion.row_budget import share_masks
from intarsia.engine.filler import Cancelled

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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Verification:
    """What one pass says: the frozen rows' own next tokens, and a proposal behind each outcome."""

    causal: Tensor  # (tokens, vocab) logits of the token after each
    proposals: tuple[Tensor, ...]  # per outcome (masks, vocab) logits of the tokens after that
    name_serially: "NameSerially | None" = None  # None: each row of a proposal names its own token


NameSerially: TypeAlias = Callable[[int, int], "list[NamedToken]"]
"""Outcome, and the token that the frozen path named behind it → the proposal's tokens, each named
in the knowledge of the one before."""


class Verifier(Protocol):
    """A causal backbone whose passes can carry canvases."""

    def verify(self, tokens: Sequence[int], masks: Sequence[int]) -> Verification:
        """Run the tokens on the frozen path, with so many masks behind each outcome."""
        ...

    def keep(self, num_tokens: int) -> None:
        """Hold the keys and values of the first tokens of the last pass; forget the others."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyPolicy:
    """``num_proposed`` 0 writes one token a pass, left to right.

    The defaults were fastest on two cores (40 HumanEval lines: 0.30 s a hole at 8 rows, 0.38 s at
    16 in as many passes, 0.35 s left to right). A GPU carries more rows for nothing.
    """

    num_proposed: int = 3
    num_rows: int = 8
    min_chance: float = 0.1  # a proposal is cut where the chance that it is kept so far is lower

    def __post_init__(self) -> None:
        if self.num_proposed < 0 or self.num_rows < 1 or not 0 <= self.min_chance < 1:
            raise ValueError(f"verify policy out of range: {self}")


LEFT_TO_RIGHT = VerifyPolicy(num_proposed=0)


@dataclass(kw_only=True, slots=True)
class Settled:
    """Hole tokens in order; the first ``num_settled`` are the backbone's own."""

    ids: list[int]
    confidences: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    num_settled: int = 0
    num_passes: int = 0
    finish_reason: Literal["end", "max_tokens", "max_steps", "deadline"] = "end"


OnRound: TypeAlias = Callable[[int, Settled], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Proposal:
    ids: list[int]
    confidences: list[float]


_NOTHING = _Proposal(ids=[], confidences=[])


@torch.inference_mode()
def settle_verified(
    verifier: Verifier,
    context: Sequence[int],
    named: Sequence["NamedToken"],
    policy: VerifyPolicy,
    *,
    find_end: FindEnd,
    ends: Ends = ANYWHERE,
    max_tokens: int,
    max_passes: int | None,
    is_cancelled: Callable[[], bool],
    deadline: float | None,  # time.monotonic(); one pass is always made
    on_round: OnRound | None,
) -> Settled:
    """Write the hole behind a context whose next tokens are already named; the verifier holds all
    of them but the last. Where an end may not stand, the likeliest other token does. Raises
    Cancelled between two passes."""
    text = Settled(ids=[])
    _settle(text, named)
    proposal = _NOTHING
    while True:
        if on_round:
            on_round(text.num_passes, cut(_with_proposal(text, proposal), max_tokens, "max_tokens"))
        if (end := find_end(text.ids[:max_tokens])) is not None:
            return cut(text, end, "end")
        if len(text.ids) >= max_tokens:
            return cut(text, max_tokens, "max_tokens")
        if max_passes is not None and text.num_passes >= max_passes:
            return _unproven(text, proposal, find_end, max_tokens, "max_steps")
        if text.num_passes and deadline is not None and time.monotonic() >= deadline:
            return _unproven(text, proposal, find_end, max_tokens, "deadline")
        if is_cancelled():
            raise Cancelled
        proposal = _round(verifier, context, text, proposal, policy, find_end, ends)


def _round(
    verifier: Verifier,
    context: Sequence[int],
    text: Settled,
    proposal: _Proposal,
    policy: VerifyPolicy,
    find_end: FindEnd,
    ends: Ends,
) -> _Proposal:
    """Judge a proposal, settle what is kept and the token after it; return the next proposal."""
    masks = (
        share_masks(proposal.confidences, num_rows=policy.num_rows, max_masks=policy.num_proposed)
        if policy.num_proposed
        else [0]
    )
    said = verifier.verify([text.ids[-1], *proposal.ids], masks)
    text.num_passes += 1
    named = _judge(said.causal, text.ids, proposal.ids, ends)
    num_kept = len(named) - 1
    verifier.keep(num_kept + 1)
    _settle(text, name_tokens(said.causal[: num_kept + 1], named))
    if not policy.num_proposed:
        return _NOTHING
    return _propose(_name(said, num_kept, text.ids[-1]), context, text, policy, find_end)


def _judge(causal: Tensor, before: Sequence[int], proposed: Sequence[int], ends: Ends) -> list[int]:
    """Return the proposed tokens that the frozen path names too, and the one that it names next."""
    named: list[int] = []
    for row, likeliest in enumerate(causal.argmax(dim=-1).tolist()):
        is_end = likeliest in ends.ids and not ends.may_follow([*before, *named])
        named.append(_likeliest_but(ends.ids, causal[row]) if is_end else likeliest)
        if row >= len(proposed) or named[row] != proposed[row]:
            break
    return named


def _likeliest_but(ids: frozenset[int], logits: Tensor) -> int:
    others = logits.index_fill(0, torch.tensor(list(ids), device=logits.device), -torch.inf)
    return int(others.argmax())


def _name(said: Verification, outcome: int, named: int) -> "list[NamedToken]":
    """Return the tokens that the canvas behind an outcome proposes, after ``named``."""
    logits = said.proposals[outcome]
    if not len(logits):
        return []
    if said.name_serially is not None:
        return said.name_serially(outcome, named)
    return name_tokens(logits, logits.argmax(dim=-1).tolist())


def _propose(
    tokens: "Sequence[NamedToken]",
    context: Sequence[int],
    text: Settled,
    policy: VerifyPolicy,
    find_end: FindEnd,
) -> _Proposal:
    ids, confidences = [t.id for t in tokens], [t.confidence for t in tokens]
    earlier = continue_from_earlier(
        [*context, *text.ids], policy.num_proposed, ids[0] if ids else None
    )[: policy.num_rows - 1]  # one row is the anchor's
    if len(earlier) > 0:
        ids = earlier
        confidences = (confidences + [0.5] * len(ids))[: len(ids)]
    chance, length = 1.0, 0
    for confidence in confidences:
        chance *= confidence
        if chance < policy.min_chance:
            break
        length += 1
    end = find_end([*text.ids, *ids[:length]])
    if end is not None:
        length = max(0, end - len(text.ids))
    return _Proposal(ids=ids[:length], confidences=confidences[:length])


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedToken:
    """A token with the distribution that it was taken from."""

    id: int
    confidence: float  # its probability
    entropy: float  # nats


def name_tokens(logits: Tensor, ids: Sequence[int]) -> list[NamedToken]:
    """Return the ids with probability and entropy under their rows of logits (rows, vocab)."""
    log_p = torch.log_softmax(logits.float(), dim=-1)
    p = log_p.exp()
    entropies = -(p * log_p).sum(dim=-1)
    chosen = p.gather(-1, torch.tensor(ids, device=p.device)[:, None]).squeeze(-1)
    return [
        NamedToken(id=i, confidence=c, entropy=e)
        for i, c, e in zip(ids, chosen.tolist(), entropies.tolist(), strict=True)
    ]


def _settle(text: Settled, tokens: Sequence[NamedToken]) -> None:
    text.ids += [t.id for t in tokens]
    text.confidences += [t.confidence for t in tokens]
    text.entropies += [t.entropy for t in tokens]
    text.num_settled = len(text.ids)


def _with_proposal(text: Settled, proposal: _Proposal) -> Settled:
    return Settled(
        ids=text.ids + proposal.ids,
        confidences=text.confidences + proposal.confidences,
        entropies=list(text.entropies),
        num_settled=text.num_settled,
        num_passes=text.num_passes,
    )


def _unproven(
    text: Settled,
    proposal: _Proposal,
    find_end: FindEnd,
    max_tokens: int,
    reason: Literal["max_steps", "deadline"],
) -> Settled:
    """The best whole-hole answer so far: what is settled, and what is proposed behind it."""
    whole = _with_proposal(text, proposal)
    end = find_end(whole.ids[:max_tokens])
    return cut(whole, max_tokens if end is None else end, reason)


def cut(
    text: Settled, length: int, reason: Literal["end", "max_tokens", "max_steps", "deadline"]
) -> Settled:
    """Return the first ``length`` tokens of a hole, and why it ends there."""
    return Settled(
        ids=text.ids[:length],
        confidences=text.confidences[:length],
        entropies=text.entropies[:length],
        num_settled=min(text.num_settled, length),
        num_passes=text.num_passes,
        finish_reason=reason,
    )
