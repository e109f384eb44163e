"""Keys and values of one context on the frozen path, which grow and are cropped by token count.

Rows of a pass are written behind the context and seen by that pass; ``commit`` keeps the first of
them, the next pass writes over the rest.
"""

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

_GROWTH = 64  # tokens; room is made in steps of this


class KvCache:
    """Keys (layers, kv heads, capacity / lanes, head_dim, lanes) and values (layers, kv heads,
    capacity, head_dim).

    ``key_lanes``: keys of so many tokens lie side by side, as many as a vector holds of their
    scores; a power of two up to 64.
    """

    def __init__(
        self, shape: BackboneShape, *, dtype: torch.dtype, device: torch.device, key_lanes: int = 1
    ) -> None:
        self.ids: list[int] = []  # the tokens held, in order
        self._ends: dict[int, Tensor] = {}  # length of a context → hidden state of its last token
        heads = (shape.num_layers, shape.num_kv_heads)
        self._key_lanes = key_lanes
        self.keys = torch.empty((*heads, 0, shape.head_dim, key_lanes), dtype=dtype, device=device)
        self.values = torch.empty((*heads, 0, shape.head_dim), dtype=dtype, device=device)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def capacity(self) -> int:
        """Tokens that there is room for."""
        return self.values.shape[2]

    def reserve(self, num_rows: int) -> None:
        """Make room for this many rows behind the context."""
        needed = len(self) + num_rows
        if needed <= self.capacity:
            return
        capacity = -(-needed // _GROWTH) * _GROWTH
        keys, values = self.keys, self.values
        self.keys = _with_room(keys, capacity // self._key_lanes)
        self.values = _with_room(values, capacity)
        self._copy_tokens(keys, values, len(self))

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put rows (kv heads, rows, head_dim) behind the context; return keys and values of both,
        (kv heads, all, head_dim). Only where a key lies by itself."""
        start, end = len(self), len(self) + keys.shape[1]
        self.keys[layer, :, start:end, :, 0] = keys
        self.values[layer, :, start:end] = values
        return self.keys[layer, :, :end, :, 0], self.values[layer, :, :end]

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
        self._copy_tokens(other.keys, other.values, length)
        self.ids = other.ids[:length]

    def _copy_tokens(self, keys: Tensor, values: Tensor, length: int) -> None:
        num_panels = -(-length // self._key_lanes)
        self.keys[:, :, :num_panels] = keys[:, :, :num_panels]
        self.values[:, :, :length] = values[:, :, :length]


def _with_room(tensor: Tensor, length: int) -> Tensor:
    return tensor.new_empty((*tensor.shape[:2], length, *tensor.shape[3:]))
