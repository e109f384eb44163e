"""How much speculative decoding proposes in one pass, and how many rows it may spend."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.engine.arrays import Array, excluding
from intarsia.engine.decoding.tokens import EndRule, HoleRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """Tokens that probably come next, and the probability of each, given those before it."""

    ids: Sequence[int] = ()
    confidences: Sequence[float] = ()

    def part(self, start: int, end: int | None = None) -> "Proposal":
        """Return the tokens from ``start`` up to ``end``."""
        rows = slice(start, end)
        return replace(self, ids=self.ids[rows], confidences=self.confidences[rows])


NO_PROPOSAL = Proposal()


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeculationPolicy:
    """How many tokens of each source are verified in one pass; without drafts and lookups it is
    autoregressive decoding, one token a pass, where no earlier answer helps."""

    num_drafted: int = 7
    num_looked_up: int = 7
    num_from_answer: int = 23  # of an earlier answer: a pass over 16 rows costs 1.3 times 8
    min_chance: float = 0.25  # a proposal is cut where it is accepted that far less often

    def __post_init__(self) -> None:
        is_negative = min(self.num_drafted, self.num_looked_up, self.num_from_answer) < 0
        if is_negative or not 0 <= self.min_chance < 1:
            raise ValueError(f"speculation policy out of range: {self}")

    @classmethod
    def for_row_cost(cls, row_cost: float) -> "SpeculationPolicy":
        """Return the policy of a backbone on which a pass over n rows takes 1 + (n - 1)·row_cost.

        A token is verified where it is accepted more often than the time of its row would write
        another: with 2 tokens in a pass of about 1.5, that is 4/3 of the cost.
        """
        is_dear = row_cost > _DEAR_ROW
        num = 3 if is_dear else cls().num_drafted
        min_chance = min(0.5, max(0.1, 4 / 3 * row_cost))
        return cls(num_drafted=num, num_looked_up=num, min_chance=min_chance)


_DEAR_ROW = 0.2
AUTOREGRESSIVE = SpeculationPolicy(num_drafted=0, num_looked_up=0)


def accept_draft(
    causal: Array, before: Sequence[int], proposed: Sequence[int], end_rule: EndRule
) -> list[int]:
    """Return the proposed tokens that the backbone predicts too, and its own next token."""
    tokens: list[int] = []
    for row, likeliest in enumerate(causal.argmax(-1).tolist()):
        is_early_end = likeliest in end_rule.ids and not end_rule.may_follow([*before, *tokens])
        if is_early_end:
            tokens.append(int(excluding(end_rule.ids, causal[row]).argmax()))
        else:
            tokens.append(likeliest)
        if row >= len(proposed) or tokens[row] != proposed[row]:
            break
    return tokens


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


_MAX_KEY_TOKENS = 8
_KEPT_CHANCE = 0.95
"""Assumed probability that a revision keeps the next token of a text that it has just followed."""


class RevisedText:
    """An earlier version of the hole, which the hole follows again after each change."""

    def __init__(self, context: Sequence[int], revised: Sequence[int]) -> None:
        self._before = list(context[-_KEY_TOKENS:])  # so that the beginning has a key too
        self._row = _as_bytes([*self._before, *revised]) if revised else b""

    def continue_from(self, written: Sequence[int], num_tokens: int) -> Proposal:
        """Return up to ``num_tokens`` ids after the longest end of the hole that is in the text."""
        own = [*self._before, *written]
        for length in range(min(_MAX_KEY_TOKENS, len(own)), _KEY_TOKENS - 1, -1):
            at = _last_match(self._row, _as_bytes(own[-length:]))
            if at is not None:
                start = at + length * _ID_BYTES
                ids = list(array("I", self._row[start : start + num_tokens * _ID_BYTES]))
                return Proposal(ids=ids, confidences=[_KEPT_CHANCE] * len(ids))
        return NO_PROPOSAL


_LOOKUP_CHANCE = 0.5
"""Assumed probability that a looked-up token is accepted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftSources:
    """Where proposals come from, besides the drafter.

    ``context`` is the prompt. ``draft`` probably follows the hole's first tokens. ``others`` are
    further rows of ids that the hole may repeat. ``revised`` is an earlier version of the whole
    hole; most of it probably stays.
    """

    context: Sequence[int] = ()
    draft: Proposal = NO_PROPOSAL
    others: Sequence[Sequence[int]] = ()
    revised: Sequence[int] = ()


class Proposer:
    """Chooses the proposal of each pass over one hole."""

    def __init__(self, sources: DraftSources, hole: HoleRequest, policy: SpeculationPolicy) -> None:
        self._lookup = PromptLookup(sources.context, sources.others)
        self._revised = RevisedText(sources.context, sources.revised)
        self._draft = sources.draft
        self._hole = hole
        self._policy = policy

    def next_of_draft(self, written: Sequence[int]) -> Proposal:
        """Return the rest of the draft; nothing if the hole (ids) has left it."""
        after_first = written[len(self._hole.first) :]
        if list(self._draft.ids[: len(after_first)]) != list(after_first):
            return NO_PROPOSAL
        rest = self._draft.part(len(after_first))
        return self._cut(rest, written, self._policy.num_from_answer)

    def next(self, written: Sequence[int], own: Proposal) -> Proposal:
        """Return the likeliest of the earlier answer and the drafter's ``own`` proposal.

        Earlier text extends the latter where it agrees.
        """
        answer = self.next_of_draft(written)
        if answer.ids and not _is_surer(own, answer):
            return answer
        kept = self._revised.continue_from(written, self._policy.num_from_answer)
        if kept.ids and not _is_surer(own, kept):
            return self._cut(kept, written, self._policy.num_from_answer)
        first = own.ids[0] if own.ids else None
        ids = self._lookup.continue_from(written, self._policy.num_looked_up, first)
        if list(own.ids[: len(ids)]) == ids[: len(own.ids)] and len(ids) > len(own.ids):
            confidences = [*own.confidences, *[_LOOKUP_CHANCE] * len(ids)]
            own = Proposal(ids=ids, confidences=confidences[: len(ids)])
        return self._cut(own, written, self._policy.num_drafted)

    def _cut(self, proposal: Proposal, written: Sequence[int], num_tokens: int) -> Proposal:
        """Cut a proposal where it becomes too unlikely, and where it ends the hole."""
        chance, length = 1.0, 0
        for confidence in proposal.confidences[:num_tokens]:
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
