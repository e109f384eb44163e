"""Choose what the next pass verifies: an earlier answer, earlier text, or the canvas's own tokens.

Works on ids and probabilities. Knows no text and no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.decoding.hole_request import HoleRequest
from intarsia.engine.decoding.prompt_lookup import PromptLookup
from intarsia.engine.decoding.proposal import NO_PROPOSAL, Proposal
from intarsia.engine.decoding.speculation_policy import SpeculationPolicy

_LOOKUP_CHANCE = 0.5
"""Assumed probability that a looked-up token is accepted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftSources:
    """Where proposals come from, besides the canvas.

    ``context`` is the prompt. ``draft`` probably follows the hole's first tokens. ``others`` are
    further rows of ids that the hole may repeat.
    """

    context: Sequence[int] = ()
    draft: Proposal = NO_PROPOSAL
    others: Sequence[Sequence[int]] = ()


class Proposer:
    """Chooses the proposal of each pass over one hole."""

    def __init__(self, sources: DraftSources, hole: HoleRequest, policy: SpeculationPolicy) -> None:
        self._lookup = PromptLookup(sources.context, sources.others)
        self._draft = sources.draft
        self._hole = hole
        self._policy = policy

    def next_of_draft(self, written: Sequence[int]) -> Proposal:
        """Return the rest of the draft; nothing if the hole (ids) has left it."""
        after_first = written[len(self._hole.first) :]
        if list(self._draft.ids[: len(after_first)]) != list(after_first):
            return NO_PROPOSAL
        return self._cut(self._draft.part(len(after_first)), written)

    def next(self, written: Sequence[int], own: Proposal) -> Proposal:
        """Return the likeliest of draft, looked-up text and the canvas's ``own`` proposal."""
        draft = self.next_of_draft(written)
        if draft.ids and not _is_surer(own, draft):
            return draft
        first = own.ids[0] if own.ids else None
        ids = self._lookup.continue_from(written, self._policy.max_looked_up, first)
        if ids:
            confidences = [*own.confidences, *[_LOOKUP_CHANCE] * len(ids)]
            own = Proposal(ids=ids, confidences=confidences[: len(ids)])
        return self._cut(own, written)

    def _cut(self, proposal: Proposal, written: Sequence[int]) -> Proposal:
        """Cut a proposal where it becomes too unlikely, and where it ends the hole."""
        chance, length = 1.0, 0
        for confidence in proposal.confidences[: self._policy.max_verified]:
            chance *= confidence
            if chance < self._policy.min_chance:
                break
            length += 1
        end = self._hole.num_until_end([*written, *proposal.ids[:length]])
        return proposal.part(0, length if end is None else max(0, end - len(written)))


def _is_surer(own: Proposal, draft: Proposal) -> bool:
    if not own.ids or own.ids[0] == draft.ids[0]:
        return False
    return own.confidences[0] > draft.confidences[0]
