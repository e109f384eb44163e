"""Keep the KV caches of earlier contexts in memory, under a budget of tokens.

A new context takes over a held one that loses only its last few tokens. Where only a beginning is
shared (another hole of the same file, an import block), that beginning is copied.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.protocol import common_prefix_length

_MIN_KEPT_SHARE = 0.5  # of a held context that the new one must keep to take it over
_MAX_LOST = 32  # tokens of it: a suffix that is requested again must not be read again
_MIN_COPIED = 32  # tokens
_MAX_STATES = 4  # of one file, at places nearby or before and after edits, while room is needed


class ContextCache:
    """Contexts that are worth least are forgotten first.

    These are the ones within a longer context, then the older states of a file with many, then the
    least recently used. So work in one file does not put out the others.
    """

    def __init__(self, new_cache: Callable[[], KvCache], *, max_tokens: int) -> None:
        self._new_cache = new_cache
        self._max_tokens = max_tokens
        self._held: list[KvCache] = []  # least recently used first
        self._suspended: list[KvCache] = []  # those of ``_held`` that suspended fills use

    @property
    def num_tokens(self) -> int:
        """Tokens that are held."""
        return sum(len(cache) for cache in self._held)

    @property
    def _num_reserved(self) -> int:
        return sum(cache.capacity for cache in self._held)

    def num_held(self, context: Sequence[int]) -> int:
        """Return how many of a context's first tokens are held. Changes nothing."""
        return self.find_held(context)[1]

    def open(self, context: Sequence[int]) -> tuple[KvCache, int]:
        """Return a cache that holds a beginning of this context, and the length of that."""
        shared = [common_prefix_length(cache.ids, context) for cache in self._held]
        # Among equal shares the shortest context wins: it may be taken over.
        best = max(range(len(shared)), key=lambda i: (shared[i], -len(self._held[i])), default=None)
        num_shared = 0 if best is None else shared[best]
        if best is not None and self._may_take_over(self._held[best], num_shared):
            cache = self._held.pop(best)
            cache.crop(num_shared)
        else:
            cache = self._new_cache()
            if best is not None and num_shared >= _MIN_COPIED:
                cache.copy_prefix(self._held[best], num_shared)
        self._evict(len(context))
        self._held.append(cache)
        return cache, len(cache)

    def find_held(self, context: Sequence[int]) -> tuple[KvCache | None, int]:
        """Return a held cache with the longest beginning of this context, and that length.

        Copy from it at once: the next fill may change it.
        """
        shared = [common_prefix_length(cache.ids, context) for cache in self._held]
        best = max(range(len(shared)), key=shared.__getitem__, default=None)
        return (None, 0) if best is None else (self._held[best], shared[best])

    @contextmanager
    def suspended(self, cache: KvCache) -> Iterator[None]:
        """Keep a cache unchanged while others are opened: its beginning may only be copied."""
        self._suspended.append(cache)
        try:
            yield
        finally:
            self._suspended.pop()

    def _evict(self, num_needed: int) -> None:
        """Forget caches that are not in use, the least valuable first, until there is room."""
        while self._num_reserved + num_needed > self._max_tokens:
            idle = [cache for cache in self._held if cache not in self._suspended]
            if not idle:
                break
            self._held.remove(min(idle, key=self._value))

    def _value(self, cache: KvCache) -> int:
        """Return how much a cache is worth; of equal ones the least recently used comes first."""
        if any(_is_within(cache, other) for other in self._held):
            return 0
        newer = self._held[self._held.index(cache) + 1 :]
        return 1 if sum(_share_half(cache, other) for other in newer) >= _MAX_STATES - 1 else 2

    def _may_take_over(self, held: KvCache, num_shared: int) -> bool:
        if held in self._suspended:
            return False
        return num_shared >= _MIN_KEPT_SHARE * len(held) and len(held) - num_shared <= _MAX_LOST


def _is_within(cache: KvCache, other: KvCache) -> bool:
    return len(cache) < len(other) and other.ids[: len(cache)] == cache.ids


def _share_half(first: KvCache, second: KvCache) -> bool:
    half = (min(len(first), len(second)) + 1) // 2
    return first.ids[:half] == second.ids[:half]
