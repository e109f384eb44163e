"""The contexts whose keys and values are held, oldest use first: token ids in, a KV cache out.

A context by which a held one loses only its last few tokens takes that one over; one that shares
only a beginning (another hole of the same file, an import block) copies the beginning.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.protocol import common_prefix_length

_TAKE_OVER = 0.5  # share of a held context that the new one must keep, to replace it
_MOST_LOST = 32  # tokens of it: a suffix that is asked for again is not to be read again
_WORTH_COPYING = 32  # tokens


class ContextCache:
    """Least recently used contexts under a budget of tokens that there is room for."""

    def __init__(self, new_cache: Callable[[], KvCache], *, max_tokens: int) -> None:
        self._new_cache = new_cache
        self._max_tokens = max_tokens
        self._held: list[KvCache] = []  # least recently used first
        self._aside: list[KvCache] = []  # of these, in use

    @property
    def num_tokens(self) -> int:
        """Tokens held now."""
        return sum(len(cache) for cache in self._held)

    @property
    def _num_reserved(self) -> int:
        return sum(cache.capacity for cache in self._held)

    def open(self, context: Sequence[int]) -> tuple[KvCache, int]:
        """Return a cache that holds a beginning of this context, and how long that is."""
        shared = [common_prefix_length(cache.ids, context) for cache in self._held]
        # Of two that share as much, the one that has less besides: it may be taken over.
        best = max(range(len(shared)), key=lambda i: (shared[i], -len(self._held[i])), default=None)
        if best is not None and self._may_take_over(self._held[best], shared[best]):
            cache = self._held.pop(best)
            cache.crop(shared[best])
        else:
            cache = self._new_cache()
            if best is not None and shared[best] >= _WORTH_COPYING:
                cache.copy_prefix(self._held[best], shared[best])
        self._evict(len(context))
        self._held.append(cache)
        return cache, len(cache)

    @contextmanager
    def suspended(self, cache: KvCache) -> Iterator[None]:
        """Keep a cache as it is while others are opened: it may be copied, no more."""
        self._aside.append(cache)
        try:
            yield
        finally:
            self._aside.pop()

    def _evict(self, num_needed: int) -> None:
        """Let go what is not in use, least recently used first, until there is room."""
        for cache in [it for it in self._held if it not in self._aside]:
            if self._num_reserved + num_needed <= self._max_tokens:
                break
            self._held.remove(cache)

    def _may_take_over(self, held: KvCache, num_shared: int) -> bool:
        if held in self._aside:
            return False
        return num_shared >= _TAKE_OVER * len(held) and len(held) - num_shared <= _MOST_LOST
