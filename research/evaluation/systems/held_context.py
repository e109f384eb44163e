"""The last context's keys and values, for a transformers prompt that begins as it did.

transformers' own ``generate`` goes on from a cache that is given to it, and reads what is missing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import DynamicCache


class HeldContext:
    """Holds one context, as long as the process runs."""

    def __init__(self) -> None:
        self._ids: Sequence[int] = ()
        self._cache: DynamicCache | None = None

    def open(self, context: Sequence[int]) -> tuple["DynamicCache", int]:
        """Return a cache that holds a beginning of this context, and how long that is: the last
        token is always left to be read, for what follows it is asked."""
        from transformers import DynamicCache

        num_shared = _num_shared(self._ids, context[:-1])
        if self._cache is None or not num_shared:
            self._cache, num_shared = DynamicCache(), 0
        elif num_over := self._cache.get_seq_length() - num_shared:
            self._cache.crop(-num_over)
        self._ids = context
        return self._cache, num_shared


def _num_shared(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
