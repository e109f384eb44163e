"""Tokens that are proposed for the next positions of a hole, to be verified in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """Tokens that probably come next, and the probability of each, given those before it."""

    ids: Sequence[int] = ()
    confidences: Sequence[float] = ()
    is_draft: bool = False  # from an earlier answer: worth more rows than a guess

    def part(self, start: int, end: int | None = None) -> "Proposal":
        """Return the tokens from ``start`` up to ``end``."""
        rows = slice(start, end)
        return replace(self, ids=self.ids[rows], confidences=self.confidences[rows])


NO_PROPOSAL = Proposal()
