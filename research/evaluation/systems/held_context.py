"""Keep the KV cache of the last context, for a transformers prompt with the same beginning.

transformers' ``generate`` continues from a given cache and reads the rest of the context.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import DynamicCache


class HeldContext:
    """The KV cache of one context."""

    def __init__(self) -> None:
        self._ids: Sequence[int] = ()
        self._cache: DynamicCache | None = None

    def open(self, context: Sequence[int]) -> tuple["DynamicCache", int]:
        """Return a cache with a beginning of this context, and its length in tokens.

        The last token is never in it: its logits predict the first new token.
        """
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
