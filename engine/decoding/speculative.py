"""Self-speculative decoding: the masked canvas drafts, the causal backbone verifies.

Both happen in the same forward pass. Frozen rows verify the last proposal. After each possible
outcome (0, 1, … all proposed tokens accepted) mask rows of a canvas already draft what comes next,
as in TiDAR (arXiv 2511.08923) and with gated masks as in arXiv 2507.11851. Earlier text is proposed
by prompt lookup decoding.

The text equals the backbone's own greedy text; only the number of forward passes differs. Knows
ids, no text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from intarsia.engine.decoding.speculation_policy import (
    DraftSources,
    Proposal,
    Proposer,
    SpeculationPolicy,
    accept_draft,
    share_masks,
)
from intarsia.engine.decoding.tokens import (
    EndReason,
    HoleRequest,
    HoleTokens,
    OnRound,
    ScoredToken,
    score_tokens,
)
from intarsia.engine.fill_control import FillControl


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Verification:
    """What one pass returns: logits of the frozen rows, and a proposal after each outcome."""

    causal: Tensor  # (tokens, vocab) logits of the token after each
    proposals: tuple[Tensor, ...]  # per outcome (masks, vocab) logits of the tokens after that
    sample_serially: "SampleSerially | None" = None  # None: the rows of a proposal are independent


SampleSerially: TypeAlias = Callable[[int, int], "list[ScoredToken]"]
"""(outcome, token that the backbone predicts after it) → the proposal's tokens.

Each token is sampled given the one before it.
"""


class Verifier(Protocol):
    """A causal backbone that runs canvases in the same pass as committed tokens."""

    def verify(self, tokens: Sequence[int], masks: Sequence[int]) -> Verification:
        """Run the tokens on the frozen path, with ``masks[j]`` mask rows after token j."""

    def keep(self, num_tokens: int) -> None:
        """Keep the keys and values of the first tokens of the last pass; forget the others."""


@torch.inference_mode()
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
    proposal = proposer.next_of_draft(text.ids)
    while True:
        drafted = text.then(proposal.ids, proposal.confidences)
        if on_round:
            on_round(drafted.cut(hole.max_tokens, "max_tokens"))
        if (end := hole.num_until_end(text.ids[: hole.max_tokens])) is not None:
            return text.cut(end, "end")
        if len(text.ids) >= hole.max_tokens:
            return text.cut(hole.max_tokens, "max_tokens")
        if (reason := _interruption(text, hole, control)) is not None:
            end = hole.num_until_end(drafted.ids[: hole.max_tokens])
            return drafted.cut(hole.max_tokens if end is None else end, reason)
        control.checkpoint()
        text, own = _verify_and_draft(verifier, text, proposal, policy, hole)
        proposal = proposer.next(text.ids, own)


def _interruption(text: HoleTokens, hole: HoleRequest, control: FillControl) -> EndReason | None:
    """Return why no further pass may be made, None if one may."""
    if hole.max_forwards is not None and text.num_forwards >= hole.max_forwards:
        return "max_steps"
    return "deadline" if text.num_forwards and control.is_late else None


def _verify_and_draft(
    verifier: Verifier,
    text: HoleTokens,
    proposal: Proposal,
    policy: SpeculationPolicy,
    hole: HoleRequest,
) -> tuple[HoleTokens, Proposal]:
    """Make one pass; return the text with the tokens that it commits, and its next proposal."""
    is_whole = bool(proposal.ids) and hole.num_until_end([*text.ids, *proposal.ids]) is not None
    masks = share_masks(
        proposal.confidences,
        num_rows=policy.rows_for(proposal, is_whole=is_whole),
        max_masks=policy.num_proposed,
        is_whole=is_whole,
    )
    verification = verifier.verify([text.ids[-1], *proposal.ids], masks)
    committed = accept_draft(verification.causal, text.ids, proposal.ids, hole.end_rule)
    num_accepted = len(committed) - 1
    verifier.keep(num_accepted + 1)
    scored = score_tokens(verification.causal[: num_accepted + 1], committed)
    text = text.then_committed(scored).after_forwards(1)
    own = _sample_proposal(verification, num_accepted, text.ids[-1])
    return text, Proposal(
        ids=[token.id for token in own], confidences=[token.confidence for token in own]
    )


def _sample_proposal(
    verification: Verification, outcome: int, last_token: int
) -> list[ScoredToken]:
    """Return the tokens that the canvas after an outcome drafts to follow ``last_token``."""
    logits = verification.proposals[outcome]
    if not len(logits):
        return []
    if verification.sample_serially is not None:
        return verification.sample_serially(outcome, last_token)
    return score_tokens(logits, logits.argmax(dim=-1).tolist())
