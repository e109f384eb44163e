"""Passages of other files that the model reads before the file with the hole, and their budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia.workspace.files.seen import Seen

ChunkKind: TypeAlias = Literal["signatures", "members", "recent_edit", "similar", "sibling"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """Text of one file, and why it was chosen."""

    path: str  # relative to the opened folder, with forward slashes
    text: str
    kind: ChunkKind
    reason: str  # one line for the user, such as "imported: Session, Settings"
    seen: tuple[Seen, ...] = ()  # the file itself, and the ignore files that let it be read

    def has_changed(self) -> bool:
        """Whether the text may be of the past by now, or may no longer be read."""
        return any(file.has_changed() for file in self.seen)


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
    """The choice of chunks; tokens are estimated from characters, of paths too."""

    budget_tokens: int = 500
    kinds: frozenset[ChunkKind] = frozenset(SHARES)  # others than all are for measuring
