"""The contexts that a server has read and still holds, and how much it has room for."""

from collections.abc import Sequence

from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.remote.discovery.discover import Server


class HeldContexts:
    """The ids that were sent last and that the server wrote after these."""

    def __init__(self, *, max_held: int) -> None:
        self._held: list[list[int]] = []  # least recently used first
        self._max_held = max_held

    def num_held(self, ids: Sequence[int]) -> int:
        """Return how many leading ids the server need not read again."""
        return max((common_prefix_length(held, ids) for held in self._held), default=0)

    def note(self, ids: Sequence[int]) -> None:
        """Record that a slot holds these ids now, in the place of those that they continue."""
        num_shared = self.num_held(ids)
        others = [held for held in self._held if common_prefix_length(held, ids) < num_shared]
        if 2 * num_shared < len(ids):  # a new context: it takes the slot that was idle longest
            others = self._held
        self._held = [*others, list(ids)][-self._max_held :]

    def forget(self) -> None:
        """Forget all: the server has given its slots to other users."""
        self._held = []


_SLOT_SHARE = 3 / 8
"""The part of a slot for prefix and suffix; other files and text after them get half each."""


def context_room(server: Server, max_context_tokens: int) -> int:
    """Return the most tokens of prefix and suffix, at least 1."""
    if server.context_tokens is None:
        return max_context_tokens
    return min(max_context_tokens, max(int(server.context_tokens * _SLOT_SHARE), 1))


_WITHIN_CHARACTERS = bytes(range(0x80, 0xC0))  # of UTF-8: all but their first bytes


def num_before_characters(raw: bytes) -> int:
    """Return how many leading bytes are the end of a character that began before them."""
    return len(raw) - len(raw.lstrip(_WITHIN_CHARACTERS))
