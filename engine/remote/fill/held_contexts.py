"""Which contexts a server probably still holds: those of the last requests, one for each slot."""

from collections.abc import Sequence

from intarsia.engine.families.protocol import common_prefix_length


class HeldContexts:
    """The ids that were sent last and that the server wrote after these."""

    def __init__(self, *, max_held: int) -> None:
        self._held: list[list[int]] = []  # least recently used first
        self._max_held = max_held

    def num_held(self, ids: Sequence[int]) -> int:
        """Return how many leading ids the server need not read again."""
        return max((common_prefix_length(held, ids) for held in self._held), default=0)

    def note(self, ids: Sequence[int]) -> None:
        """Note that a slot holds these ids now, in the place of those that they continue."""
        num_shared = self.num_held(ids)
        others = [held for held in self._held if common_prefix_length(held, ids) < num_shared]
        if 2 * num_shared < len(ids):  # a new context: it takes the slot that was idle longest
            others = self._held
        self._held = [*others, list(ids)][-self._max_held :]

    def forget(self) -> None:
        """Forget all: the server has given its slots to other users."""
        self._held = []
