"""Reads windows of code on the plain backbone, and keeps what later rounds need.

Of each window the keys and values are kept, and the hidden states from the edit on. The window
after an edit is the one before the next edit, so a round reads only what follows the edited line.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from intarsia.engine.arrays import Array, namespace
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK, CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.fill_control import FillControl

_MAX_HELD_TOKENS = 4_096  # of all windows, some 50 MB: before and after the edits in two files
_MIN_COPIED = 32  # tokens

FindHeld = Callable[[Sequence[int]], tuple[KvCache | None, int]]
"""Returns a context that holds a beginning of some ids, and the length of that beginning."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReadWindow:
    """A window's keys and values, and the hidden states (tokens, hidden) from ``first`` on."""

    backbone: CausalBackbone
    ids: tuple[int, ...]
    cache: KvCache
    hidden: Array
    first: int

    def rows(self, tokens: Sequence[int]) -> Array:
        """Return the hidden states of tokens, by their index in ``ids``."""
        return self.hidden[[token - self.first for token in tokens]]

    def read_instead(self, first: int, ids: Sequence[int], control: FillControl) -> list[Array]:
        """Return the hidden states (tokens, hidden) of ids after the first ``first`` tokens.

        Raises Cancelled between two chunks.
        """
        cache = self.backbone.new_cache()
        cache.copy_prefix(self.cache, first)
        return list(read_on(self.backbone, cache, ids, control))


def read_on(
    backbone: CausalBackbone, cache: KvCache, ids: Sequence[int], control: FillControl
) -> Iterator[Array]:
    """Write ids into a cache; yield the hidden states (tokens, hidden) of each chunk.

    Raises Cancelled between two chunks of ``SHORT_CHUNK`` tokens.
    """
    cache.reserve(len(ids))
    for start in range(0, len(ids), SHORT_CHUNK):
        control.checkpoint()
        part = list(ids[start : start + SHORT_CHUNK])
        rows = frozen_rows(part, start=len(cache))
        hidden = backbone.forward(rows, cache)
        cache.commit(part)
        yield hidden


class WindowReader:
    """Reads windows apart from the contexts of fills; beginnings that these hold are copied."""

    def __init__(self, backbone: CausalBackbone, find_held: FindHeld) -> None:
        self._backbone = backbone
        self._find_held = find_held
        self._held: list[ReadWindow] = []  # least recently used first
        self.num_computed = 0
        self.num_reused = 0

    def read(self, ids: Sequence[int], first: int, control: FillControl) -> ReadWindow:
        """Return the window of these ids, with hidden states from token ``first`` on.

        Raises Cancelled between two chunks of ``SHORT_CHUNK`` tokens.
        """
        cache, hidden, num_known = self._beginning(ids, first)
        self.num_reused += num_known
        parts = [hidden]
        try:
            for read in read_on(self._backbone, cache, ids[num_known:], control):
                self.num_computed += len(read)
                parts.append(read[max(0, first - (len(cache) - len(read))) :])
        finally:  # what was read before a cancel need not be read again
            # without the empty part, which may be of another precision
            parts = [part for part in parts if len(part)] or parts[-1:]
            hidden = namespace(*parts).concat(parts)
            read_ids = tuple(ids[: len(cache)])
            window = ReadWindow(
                backbone=self._backbone, ids=read_ids, cache=cache, hidden=hidden, first=first
            )
            self._hold(window)
        return window

    def _beginning(self, ids: Sequence[int], first: int) -> tuple[KvCache, Array, int]:
        """Return a cache with the longest known beginning, its rows from ``first``, its length."""
        best, num_best = None, 0
        for window in self._held:
            shared = common_prefix_length(window.ids, ids)
            num_usable = shared if window.first <= first else min(shared, first)
            if num_usable > num_best:
                best, num_best = window, num_usable
        other, num_other = self._find_held(ids[:first])
        cache = self._backbone.new_cache()
        cache.reserve(len(ids))
        nothing: Array = np.empty((0, self._backbone.shape.hidden))
        if other is not None and num_other > num_best:
            if num_other < _MIN_COPIED:
                return cache, nothing, 0
            cache.copy_prefix(other, num_other)
            return cache, nothing, num_other
        if best is None or num_best < _MIN_COPIED:
            return cache, nothing, 0
        cache.copy_prefix(best.cache, num_best)
        known = best.hidden[max(0, first - best.first) : max(0, num_best - best.first)]
        return cache, known if num_best > first else nothing, num_best

    def _hold(self, window: ReadWindow) -> None:
        num_tokens = len(window.ids)
        kept = [window]
        for held in reversed(self._held):  # the most recently used first
            num_tokens += len(held.ids)
            if not _is_within(held, window) and num_tokens <= _MAX_HELD_TOKENS:
                kept.append(held)
        self._held = kept[::-1]


def _is_within(held: ReadWindow, window: ReadWindow) -> bool:
    """Return whether a window with all that is known of a held one replaces it."""
    is_beginning = tuple(window.ids[: len(held.ids)]) == held.ids
    return is_beginning and window.first <= held.first
