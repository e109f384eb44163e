"""Choose what the next pass verifies: an earlier answer, earlier text, or the canvas's own tokens.

Works on ids and probabilities. Knows no text and no model.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.decoding.speculation_policy import NO_PROPOSAL, Proposal, SpeculationPolicy
from intarsia.engine.decoding.tokens import HoleRequest

_KEY_TOKENS = 2  # tokens that must agree
_ID_BYTES = array("I").itemsize


class PromptLookup:
    """Rows of token ids that a hole may repeat; the last match counts.

    Each row of ``others`` is independent: none continues another. These are searched, the last row
    first, before ``context``, which the hole's own tokens follow.
    """

    def __init__(self, context: Sequence[int], others: Sequence[Sequence[int]] = ()) -> None:
        self._context = _as_bytes(context)
        self._others = [_as_bytes(ids) for ids in reversed(others)]

    def continue_from(
        self, written: Sequence[int], num_tokens: int, first: int | None
    ) -> list[int]:
        """Return up to ``num_tokens`` ids that followed the last two tokens before.

        If ``first`` is given, a continuation must begin with it: the model's own proposal rejects
        a chance repetition.
        """
        own = self._context + _as_bytes(written)
        if not num_tokens or len(own) < _KEY_TOKENS * _ID_BYTES:
            return []
        key = own[-_KEY_TOKENS * _ID_BYTES :] + (b"" if first is None else _as_bytes([first]))
        for row in (*self._others, own):
            at = _last_match(row, key)
            if at is not None:
                start = at + _KEY_TOKENS * _ID_BYTES
                return list(array("I", row[start : start + num_tokens * _ID_BYTES]))
        return []


def _as_bytes(ids: Sequence[int]) -> bytes:
    return array("I", ids).tobytes()


def _last_match(row: bytes, key: bytes) -> int | None:
    """Return the last offset of the key that has a token after its first two."""
    end = len(row) if len(key) > _KEY_TOKENS * _ID_BYTES else len(row) - _ID_BYTES
    at = row.rfind(key, 0, max(0, end))
    while at > 0 and at % _ID_BYTES:  # a match across the borders of ids
        at = row.rfind(key, 0, at + len(key) - 1)
    return None if at < 0 else at


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
