"""Speculative decoding: a drafter denoises a block of masks, the causal backbone verifies it.

One pass of the backbone computes all drafted tokens (arXiv 2211.17192); those that it would have
written itself are kept. An earlier answer may be the draft, and text of the prompt may extend it
(prompt lookup decoding).

The text equals the backbone's own greedy text; only the number of forward passes differs. Knows
ids, no text.
"""

from collections.abc import Sequence
from typing import Protocol

from intarsia.engine.arrays import Array
from intarsia.engine.decoding.speculation_policy import (
    DraftSources,
    Proposal,
    Proposer,
    SpeculationPolicy,
    accept_draft,
)
from intarsia.engine.decoding.tokens import (
    EndReason,
    HoleRequest,
    HoleTokens,
    OnRound,
    score_tokens,
)
from intarsia.engine.fill_control import FillControl


class Verifier(Protocol):
    """A causal backbone, and what drafts for it."""

    def verify(self, tokens: Sequence[int]) -> Array:
        """Run tokens after those kept; return logits (tokens, vocab) of the token after each."""

    def keep(self, num_tokens: int) -> None:
        """Keep the keys and values of the first tokens of the last pass; forget the others."""

    def draft(self, newest: int, num_tokens: int, min_chance: float) -> Proposal:
        """Return up to ``num_tokens`` that may follow the newest one, which is not kept yet.

        They end where all of them together are less probable than ``min_chance``.
        """


def decode_speculatively(
    verifier: Verifier,
    hole: HoleRequest,
    policy: SpeculationPolicy,
    *,
    sources: DraftSources,
    control: FillControl,
    on_round: OnRound | None,
) -> HoleTokens:
    """Decode one hole after the open context; the draft of ``sources`` is the first proposal.

    Where the end rule forbids an end token, the likeliest other token is taken. A deadline ends
    the hole after the first pass at the earliest, with the proposal as part of the answer. Raises
    Cancelled between two passes.
    """
    text = HoleTokens().then_committed(hole.first)
    proposer = Proposer(sources, hole, policy)
    while True:
        end = hole.num_until_end(text.ids[: hole.max_tokens])
        if end is not None or len(text.ids) >= hole.max_tokens:
            text = text.cut(
                hole.max_tokens if end is None else end, "max_tokens" if end is None else "end"
            )
            if on_round:
                on_round(text)
            return text
        own = verifier.draft(text.ids[-1], policy.num_drafted, policy.min_chance)
        proposal = proposer.next(text.ids, own)
        drafted = text.then(proposal.ids, proposal.confidences)
        if on_round:
            on_round(drafted.cut(hole.max_tokens, "max_tokens"))
        if (reason := _interruption(text, hole, control)) is not None:
            end = hole.num_until_end(drafted.ids[: hole.max_tokens])
            return drafted.cut(hole.max_tokens if end is None else end, reason)
        control.checkpoint()
        text = _verify(verifier, text, proposal, hole)


def _interruption(text: HoleTokens, hole: HoleRequest, control: FillControl) -> EndReason | None:
    """Return why no further pass may be made, None if one may."""
    if hole.max_forwards is not None and text.num_forwards >= hole.max_forwards:
        return "max_steps"
    return "deadline" if text.num_forwards and control.is_late else None


def _verify(
    verifier: Verifier, text: HoleTokens, proposal: Proposal, hole: HoleRequest
) -> HoleTokens:
    """Make one pass; return the text with the tokens that it commits."""
    logits = verifier.verify([text.ids[-1], *proposal.ids])
    committed = accept_draft(logits, text.ids, proposal.ids, hole.end_rule)
    verifier.keep(len(committed))
    scored = score_tokens(logits[: len(committed)], committed)
    return text.then_committed(scored).after_forwards(1)
