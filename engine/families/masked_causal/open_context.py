"""A causal backbone with one open context, and the keys and values of earlier ones.

The hole's tokens follow the open context in the same KV cache. Forward passes over these are in
``passes.py``. Knows ids, no text.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from intarsia.engine.arrays import Array, copied, namespace
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK, CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.protocol import (
    Prefilled,
    ReadingSpeed,
    Stopwatch,
    common_prefix_length,
)
from intarsia.engine.fill_control import NO_CONTROL, FillControl

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
        return sum(len(cache) for cache in self._held)

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
        """Return a held cache with the longest beginning, and that length. Copy from it at once."""
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
        while sum(cache.capacity for cache in self._held) + num_needed > self._max_tokens:
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


_HOLE_ROOM = 128  # tokens: most holes fit after their context without moving it


class OpenContext:
    """The open context, of ``length`` tokens, and its ``cache``, which also holds hole tokens."""

    def __init__(self, backbone: CausalBackbone, *, cache_tokens: int) -> None:
        self.backbone = backbone
        self.cache: KvCache = backbone.new_cache()
        self.length = 0
        self._earlier = ContextCache(backbone.new_cache, max_tokens=cache_tokens)
        self._num_suspensions = 0
        self.reading_speed = ReadingSpeed()

    def cached_tokens(self) -> int:
        """Return the number of context tokens that are held."""
        return self._earlier.num_tokens

    def num_missing(self, context: Sequence[int]) -> int:
        """Return how many tokens of a context a prefill would compute. Changes nothing."""
        return len(context) - self._earlier.find_held(context)[1]

    def find_held(self, ids: Sequence[int]) -> tuple[KvCache | None, int]:
        """Return a context with the longest beginning of these ids, and the length of that."""
        return self._earlier.find_held(ids)

    def prefill(
        self,
        context: Sequence[int],
        control: FillControl = NO_CONTROL,
        *,
        chunk_tokens: int | None = None,
        hole_ids: Sequence[int] = (),
    ) -> Prefilled:
        """Open a context; compute the tokens that are not held, in chunks of ``chunk_tokens``.

        None takes the fastest size. After a suspension the chunks are short, as other fills are
        running. ``hole_ids`` probably follow the context: those that are held stay held. Raises
        Cancelled between two chunks.
        """
        whole = [*context, *hole_ids]
        # Of the last hole only the tokens that are now in the context, or follow it, are useful.
        self.cache.crop(max(self.length, common_prefix_length(self.cache.ids, whole)))
        self.cache, num_held = self._earlier.open(whole)
        self.length = len(context)
        num_reused = min(num_held, len(context))
        if num_reused == len(context) and not self._is_end_known(num_reused):
            num_reused -= 1  # its last hidden state was not kept: read one token again
            self.cache.crop(num_reused)
        self.cache.reserve(len(context) - num_reused + _HOLE_ROOM)
        self._read_context(context[num_reused:], control, chunk_tokens)
        return Prefilled(num_reused=num_reused, num_computed=len(context) - num_reused)

    def _read_context(
        self, tokens: Sequence[int], control: FillControl, chunk_tokens: int | None
    ) -> None:
        """Read the last tokens of the context."""
        size, num_before = chunk_tokens or self.backbone.chunk_tokens, self._num_suspensions
        start, watch = 0, Stopwatch(self.backbone.synchronize)
        while start < len(tokens):
            control.checkpoint()
            if self._num_suspensions > num_before:
                size = min(size, SHORT_CHUNK)
            part = tokens[start : start + size]
            start += len(part)
            is_last = start == len(tokens)
            with watch.lap():
                hidden = self.read(part, num_hidden=int(is_last))
            if is_last:
                self.cache.keep_last_hidden(copied(hidden[-1]))
        self.reading_speed.add(len(tokens), watch.seconds)

    def read(self, tokens: Sequence[int], *, num_hidden: int | None = None) -> Array:
        """Hold tokens; return the last ``num_hidden`` (None: all) rows (tokens, hidden)."""
        rows = frozen_rows(tokens, start=len(self.cache), num_hidden=num_hidden)
        hidden = self.backbone.forward(rows, self.cache)
        self.cache.commit(list(tokens))
        return hidden

    def end_of_context(self) -> Array:
        """Return the hidden state (hidden,) of the context's last token."""
        hidden = self.cache.last_hidden(self.length)
        if hidden is None:
            raise RuntimeError("no context is open: call prefill first")
        return hidden

    def next_logits(self) -> Array:
        """Return logits (vocab,) of the token after the open context."""
        return self.backbone.logits(self.end_of_context()[None])[0]

    def extend(self, token: int) -> int:
        """Add one token to the open context; return the forward passes made: 0 if it is held."""
        length = self.length
        if self.cache.ids[length : length + 1] == [token] and self._is_end_known(length + 1):
            self.length += 1
            return 0
        self.cache.crop(length)
        self.cache.keep_last_hidden(copied(self.read([token])[-1]))
        self.length += 1
        return 1

    def keep_hole(self, hole_ids: Sequence[int]) -> int:
        """Forget the held hole tokens that differ from these; return how many are left."""
        num_held = common_prefix_length(self.cache.ids[self.length :], hole_ids)
        self.cache.crop(self.length + num_held)
        return num_held

    def hidden_after(self, tokens: Sequence[int], control: FillControl) -> Array:
        """Return the hidden states (1 + tokens, hidden) of the context's end and of each token.

        They are not held afterwards. Raises Cancelled between two chunks.
        """
        hidden = [self.end_of_context()[None]]
        chunk = self.backbone.chunk_tokens
        for first in range(0, len(tokens), chunk):
            control.checkpoint()
            hidden.append(self.read(tokens[first : first + chunk]))
        self.rewind()
        return namespace(*hidden).concat(hidden)

    def rewind(self) -> None:
        self.keep_hole([])

    def reopen(self, length: int) -> None:
        """Shorten the open context to ``length`` tokens with a known end; forget the hole."""
        self.cache.crop(length)
        self.length = length
        if not self._is_end_known(length):
            self.prefill(list(self.cache.ids))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let other fills open contexts between two passes; restore this one afterwards."""
        self._num_suspensions += 1
        own = self.cache, self.length
        try:
            with self._earlier.suspended(self.cache):
                self.cache, self.length = self.backbone.new_cache(), 0
                yield
                self.cache.crop(self.length)  # else the hole would be taken for context
        finally:
            self.cache, self.length = own

    def _is_end_known(self, length: int) -> bool:
        return self.cache.last_hidden(length) is not None
