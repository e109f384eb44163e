"""What context may hold: its budget, and a switch for each kind, to measure what that gains."""

from collections.abc import Mapping
from dataclasses import dataclass

from intarsia.infill.canvas.window import budget_chars
from intarsia.workspace.context.chunk import ChunkKind

SHARES: Mapping[ChunkKind, float] = {
    "members": 0.5,
    "signatures": 1.0,
    "recent_edit": 0.2,
    "similar": 0.2,
    "sibling": 0.12,
}
"""The part of the budget that a kind may have. Signatures get what the others leave unused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkOptions:
    """The choice of chunks; tokens are estimated from characters."""

    budget_tokens: int = 500
    kinds: frozenset[ChunkKind] = frozenset(SHARES)

    @property
    def budget_chars(self) -> int:
        """The most characters of all chunks with their paths."""
        return budget_chars(self.budget_tokens)
