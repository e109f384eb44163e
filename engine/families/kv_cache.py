"""Keys and values of one context on the frozen path, which grow and are cropped by token count.

Rows of a pass are written behind the context and seen by that pass; ``commit`` keeps the first of
them, the next pass writes over the rest.
"""

import torch
from torch import Tensor

from intarsia.engine.families.backbone_shape import BackboneShape

_GROWTH = 64  # tokens; room is made in steps of this


class KvCache:
    """Keys and values per layer, each (num_kv_heads, capacity, head_dim)."""

    def __init__(self, shape: BackboneShape, *, dtype: torch.dtype, device: torch.device) -> None:
        self.ids: list[int] = []  # the tokens held, in order
        self._ends: dict[int, Tensor] = {}  # length of a context → hidden state of its last token
        self._blank = torch.empty(
            (2, shape.num_layers, shape.num_kv_heads, 0, shape.head_dim), dtype=dtype, device=device
        )
        self._store = self._blank  # (keys and values, layers, kv heads, capacity, head_dim)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def capacity(self) -> int:
        """Tokens that there is room for."""
        return self._store.shape[3]

    def reserve(self, num_rows: int) -> None:
        """Make room for this many rows behind the context."""
        needed = len(self) + num_rows
        if needed <= self.capacity:
            return
        size = list(self._blank.shape)
        size[3] = -(-needed // _GROWTH) * _GROWTH
        grown = self._blank.new_empty(size)
        grown[:, :, :, : len(self)] = self._store[:, :, :, : len(self)]
        self._store = grown

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put rows behind the context; return keys and values of both, (heads, all, head_dim)."""
        start, end = len(self), len(self) + keys.shape[1]
        self._store[0, layer, :, start:end] = keys
        self._store[1, layer, :, start:end] = values
        return self._store[0, layer, :, :end], self._store[1, layer, :, :end]

    def commit(self, ids: list[int]) -> None:
        """Keep the first rows of the last pass, whose tokens these were."""
        self.ids.extend(ids)

    def crop(self, length: int) -> None:
        """Forget all tokens from this one on."""
        del self.ids[length:]
        self._ends = {end: hidden for end, hidden in self._ends.items() if end <= length}

    def keep_end(self, hidden: Tensor) -> None:
        """Remember the last token's hidden state (hidden,), from which the next one is named."""
        self._ends[len(self)] = hidden

    def end_of_context(self, length: int) -> Tensor | None:
        """Return the hidden state of the last of the first ``length`` tokens, if it was kept."""
        return self._ends.get(length)

    def copy_prefix(self, other: "KvCache", length: int) -> None:
        """Start with the first tokens of another context (this one must be empty)."""
        self.reserve(length)
        self._store[:, :, :, :length] = other._store[:, :, :, :length]
        self.ids = other.ids[:length]
