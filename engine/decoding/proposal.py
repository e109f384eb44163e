"""What one pass is to judge: the canvas's own tokens, earlier text, or a draft from before.

Ids and chances come in, a proposal goes out. Knows no text and no model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from intarsia.engine.decoding.prompt_lookup import EarlierText


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """Tokens that probably come next, and the chance of each, given those before it."""

    ids: Sequence[int] = ()
    confidences: Sequence[float] = ()
    is_draft: bool = False  # from before: worth more rows than a guess

    def part(self, start: int, end: int | None = None) -> "Proposal":
        """Return some of its tokens."""
        rows = slice(start, end)
        return replace(self, ids=self.ids[rows], confidences=self.confidences[rows])


NOTHING = Proposal()


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """What a fill knows from before: what probably follows its first tokens, and other rows of ids
    that may be continued alike."""

    draft: Proposal = NOTHING
    others: Sequence[Sequence[int]] = ()


NO_MEMORY = Memory()


class Proposer:
    """Chooses what the next pass judges."""

    def __init__(
        self,
        context: Sequence[int],
        num_named: int,
        memory: Memory,
        *,
        num_looked_up: int,
        most_tokens: int,
        min_chance: float,
        find_end: Callable[[Sequence[int]], int | None],
    ) -> None:
        self._earlier = EarlierText(context, memory.others)
        self._num_named = num_named
        self._draft = memory.draft
        self._num_looked_up = num_looked_up
        self._most_tokens = most_tokens
        self._min_chance = min_chance
        self._find_end = find_end

    def remembered(self, written: Sequence[int]) -> Proposal:
        """Return what is left of the draft; nothing where the hole has gone another way."""
        behind = written[self._num_named :]
        if list(self._draft.ids[: len(behind)]) != list(behind):
            return NOTHING
        return self._cut(self._draft.part(len(behind)), written)

    def next(self, written: Sequence[int], own: Proposal) -> Proposal:
        """Return what is likeliest of draft, earlier text and the canvas's own proposal."""
        draft = self.remembered(written)
        if draft.ids and not _is_surer(own, draft):
            return draft
        first = own.ids[0] if own.ids else None
        ids = self._earlier.continue_from(written, self._num_looked_up, first)
        if ids:
            chances = [*own.confidences, *[_CHANCE_LOOKED_UP] * len(ids)]
            own = Proposal(ids=ids, confidences=chances[: len(ids)])
        return self._cut(own, written)

    def _cut(self, proposal: Proposal, written: Sequence[int]) -> Proposal:
        """End it where it is unlikely to be kept so far, and where it ends the hole."""
        chance, length = 1.0, 0
        for confidence in proposal.confidences[: self._most_tokens]:
            chance *= confidence
            if chance < self._min_chance:
                break
            length += 1
        end = self._find_end([*written, *proposal.ids[:length]])
        return proposal.part(0, length if end is None else max(0, end - len(written)))


_CHANCE_LOOKED_UP = 0.5


def _is_surer(own: Proposal, draft: Proposal) -> bool:
    if not own.ids or own.ids[0] == draft.ids[0]:
        return False
    return own.confidences[0] > draft.confidences[0]
