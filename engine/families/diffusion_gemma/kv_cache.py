"""The keys and values that DiffusionGemma's encoder writes and its decoder reads."""

import copy
from collections.abc import Sequence
from typing import Any

from torch import Tensor
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from intarsia.engine.families.protocol import common_prefix_length


def new_cache(num_visible: Sequence[int | None]) -> Any:
    """Return an empty cache. ``num_visible``: of each layer, the earlier tokens that a canvas sees
    (None: all)."""
    return Cache(
        layers=[DynamicLayer() if num is None else WindowLayer(num + 1) for num in num_visible]
    )


def copied(cache: Any, *, num_removed: int = 0) -> Any:
    """Return a cache of the same tensors without the last tokens; each goes on alone."""
    other = copy.copy(cache)
    other.layers = [copy.copy(layer) for layer in cache.layers]
    if num_removed:
        other.crop(-num_removed)
    return other


def repeated(view: Any, num_canvases: int) -> Any:
    """Return a cache that shows one context to several canvases, without a copy."""
    if num_canvases == 1:
        return view
    shown = copied(view)
    for layer in shown.layers:
        layer.keys = layer.keys.expand(num_canvases, -1, -1, -1)
        layer.values = layer.values.expand(num_canvases, -1, -1, -1)
    return shown


class WindowLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of a layer with a sliding window: of the last one to two windows of tokens.

    What no later token sees is dropped, a half window at a time. The rest of what is kept is for
    contexts that are cut back: transformers' own layer keeps one window, and cannot be cut.
    """

    is_sliding = True
    keys: Tensor
    values: Tensor

    def __init__(self, window: int) -> None:
        super().__init__()
        self._window = window
        self._num_dropped = 0

    def update(self, keys: Tensor, values: Tensor, *args: Any, **options: Any) -> Any:
        """Append new ones; return all that a token of these may see."""
        seen = super().update(keys, values, *args, **options)
        if (num_more := self.keys.shape[-2] - 2 * self._window) > 0:
            num_old = num_more + self._window // 2
            # Copies: a view would hold on to the memory of what is dropped.
            self.keys = self.keys[..., num_old:, :].clone()
            self.values = self.values[..., num_old:, :].clone()
            self._num_dropped += num_old
        return seen

    def get_seq_length(self) -> int:
        """Return how many tokens were read, those that are dropped too."""
        return int(self._num_dropped + super().get_seq_length())

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the number of keys in a pass, and the position of the first."""
        return self.get_seq_length() - self._num_dropped + query_length, self._num_dropped

    def can_be_cut_to(self, num_tokens: int) -> bool:
        """Whether all is kept that the tokens after these see."""
        return self._num_dropped <= max(0, num_tokens - self._window + 1)


def num_shared(held: Sequence[int], cache: Any, ids: Sequence[int], most: int) -> int:
    """Return how many of the first ``most`` ids a cache of the held ones can go on from."""
    num = min(common_prefix_length(held, ids), most)
    layers = [it for it in cache.layers if isinstance(it, WindowLayer)]
    return num if all(it.can_be_cut_to(num) for it in layers) else 0
