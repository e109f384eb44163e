"""What context may hold: its budget, and a switch for each kind of chunk.

The switches are for measuring what each kind gains and costs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from intarsia.infill.canvas.window import budget_chars
from intarsia.workspace.context.chunk import ChunkKind

KINDS: tuple[ChunkKind, ...] = ("members", "signatures", "recent_edit", "similar", "sibling")
"""Most valuable first."""

SHARES: Mapping[ChunkKind, float] = MappingProxyType(
    {"members": 0.5, "signatures": 1.0, "recent_edit": 0.2, "similar": 0.2, "sibling": 0.12}
)
"""The part of the budget that a kind may have. Signatures get what the others leave unused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkOptions:
    """The choice of chunks; tokens are estimated from characters."""

    budget_tokens: int = 500
    kinds: frozenset[ChunkKind] = frozenset(KINDS)
    shares: Mapping[ChunkKind, float] = field(default_factory=lambda: SHARES)
    max_signature_chars: int = 240  # without decorators; a longer one is cut
    max_member_chars: int = 140  # of a field or a method that is no constructor
    min_similarity: float = 0.4  # share of the hole's words, by weight, that a passage must have

    @property
    def budget_chars(self) -> int:
        """The most characters of all chunks with their paths."""
        return budget_chars(self.budget_tokens)
