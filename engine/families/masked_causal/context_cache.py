"""Keep the KV caches of earlier contexts in memory, under a budget of tokens.

A new context takes over a held one that loses only its last few tokens. Where only a beginning is
shared (another hole of the same file, an import block), that beginning is copied. What is not held
may be on disk (``context_store/``): contexts are written there in idle time.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.context_store.store import ContextStore
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.fill_control import NO_CONTROL, FillControl

_MIN_KEPT_SHARE = 0.5  # of a held context that the new one must keep to take it over
_MAX_LOST = 32  # tokens of it: a suffix that is requested again must not be read again
_MIN_COPIED = 32  # tokens
_MAX_STATES = 4  # of one file, at places nearby or before and after edits, while room is needed
_MIN_RESTORED = 32  # tokens more than are held: reading fewer takes no longer than a file


class ContextCache:
    """Contexts that are worth least are forgotten first.

    These are the ones within a longer context, then the older states of a file with many, then the
    least recently used. So work in one file does not put out the others.
    """

    def __init__(
        self,
        new_cache: Callable[[], KvCache],
        *,
        max_tokens: int,
        store: ContextStore | None = None,
    ) -> None:
        self._new_cache = new_cache
        self._max_tokens = max_tokens
        self._store = store
        self._held: list[KvCache] = []  # least recently used first
        self._suspended: list[KvCache] = []  # those of ``_held`` that suspended fills use

    @property
    def num_tokens(self) -> int:
        """Tokens that are held."""
        return sum(len(cache) for cache in self._held)

    @property
    def _num_reserved(self) -> int:
        return sum(cache.capacity for cache in self._held)

    def num_held(self, context: Sequence[int], *, may_be_stored: bool = False) -> int:
        """Return how many of a context's first tokens need not be read. Changes nothing.

        Those on disk count if it ``may_be_stored``: restoring them takes a fraction of the time.
        """
        held = max((common_prefix_length(cache.ids, context) for cache in self._held), default=0)
        return max(held, self._num_to_restore(context, held)) if may_be_stored else held

    def open(
        self,
        context: Sequence[int],
        control: FillControl = NO_CONTROL,
        *,
        may_be_stored: bool = False,
    ) -> tuple[KvCache, int]:
        """Return a cache that holds a beginning of this context, and the length of that.

        It is written to disk, or read from there, only if it ``may_be_stored``. Raises Cancelled
        while it is read from there.
        """
        cache = self._restored(context, control) if may_be_stored else None
        # Only now: while a context is restored, other fills may open theirs.
        shared = [common_prefix_length(cache.ids, context) for cache in self._held]
        # Among equal shares the shortest context wins: it may be taken over.
        best = max(range(len(shared)), key=lambda i: (shared[i], -len(self._held[i])), default=None)
        num_shared = 0 if best is None else shared[best]
        if cache is None and best is not None and self._may_take_over(self._held[best], num_shared):
            cache = self._held.pop(best)
            cache.crop(num_shared)
        if cache is None:
            cache = self._new_cache()
            if best is not None and num_shared >= _MIN_COPIED:
                cache.copy_prefix(self._held[best], num_shared)
        cache.may_be_stored = may_be_stored
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

    def store(self, opened: KvCache, length: int, control: FillControl) -> None:
        """Write contexts to disk, the most recently used first; raises Cancelled in between.

        Of the ``opened`` one only ``length`` tokens are context.
        """
        if self._store is not None:
            newest_first = [cache for cache in reversed(self._held) if cache.may_be_stored]
            self._store.keep(
                [(cache, length if cache is opened else len(cache)) for cache in newest_first],
                control,
            )

    def stored_contexts(self) -> list[list[int]]:
        """Return the ids of the contexts on disk, least recently used first."""
        return [] if self._store is None else self._store.contexts()

    @contextmanager
    def suspended(self, cache: KvCache) -> Iterator[None]:
        """Keep a cache unchanged while others are opened: its beginning may only be copied."""
        self._suspended.append(cache)
        try:
            yield
        finally:
            self._suspended.pop()

    def _restored(self, context: Sequence[int], control: FillControl) -> KvCache | None:
        """Return a beginning of the context from disk if it is clearly longer than the held one."""
        num_held = self.num_held(context)
        if self._store is None or not self._num_to_restore(context, num_held):
            return None
        cache = self._new_cache()
        return cache if self._store.restore(context, cache, control) > num_held else None

    def _num_to_restore(self, context: Sequence[int], num_held: int) -> int:
        """Return how many tokens to restore, 0 if that is not worth it."""
        num_stored = 0 if self._store is None else self._store.num_kept(context)
        return num_stored if num_stored >= num_held + _MIN_RESTORED else 0

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
