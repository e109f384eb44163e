"""The KV cache of one context: a pass writes rows after it, and ``commit`` keeps the first ones."""

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

_GROWTH = 64  # tokens; room is made in steps of this


class KvCache:
    """Keys (layers, kv heads, capacity / key_lanes, head_dim, key_lanes) and values (layers, kv
    heads, capacity, head_dim).

    The keys of ``key_lanes`` tokens are interleaved, so that one vector holds their scores; it is a
    power of two up to 64. The layers of a drafter follow those of the backbone.
    """

    def __init__(
        self,
        shape: BackboneShape,
        *,
        dtype: torch.dtype,
        device: torch.device,
        key_lanes: int = 1,
        num_draft_layers: int = 0,
    ) -> None:
        self.ids: list[int] = []  # the tokens held, in order
        self._last_hidden: dict[int, Tensor] = {}  # by length of the context
        heads = (shape.num_layers + num_draft_layers, shape.num_kv_heads)
        self._key_lanes = key_lanes
        self.keys = torch.empty((*heads, 0, shape.head_dim, key_lanes), dtype=dtype, device=device)
        self.values = torch.empty((*heads, 0, shape.head_dim), dtype=dtype, device=device)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def capacity(self) -> int:
        """The number of tokens that fit."""
        return self.values.shape[2]

    @property
    def device(self) -> torch.device:
        return self.values.device

    def reserve(self, num_rows: int) -> None:
        """Make room for this many rows after the context."""
        needed = len(self) + num_rows
        if needed <= self.capacity:
            return
        capacity = -(-needed // _GROWTH) * _GROWTH
        keys, values = self.keys, self.values
        self.keys = _with_room(keys, capacity // self._key_lanes)
        self.values = _with_room(values, capacity)
        self._copy_tokens(keys, values, len(self))

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write rows (kv heads, rows, head_dim) after the context.

        Returns the keys and values of both (kv heads, context + rows, head_dim). Only for a cache
        with ``key_lanes`` 1.
        """
        start, end = len(self), len(self) + keys.shape[1]
        self.keys[layer, :, start:end, :, 0] = keys
        self.values[layer, :, start:end] = values
        return self.keys[layer, :, :end, :, 0], self.values[layer, :, :end]

    def write_layers(self, first_layer: int, keys: Tensor, values: Tensor) -> None:
        """Write rows (layers, kv heads, rows, head_dim) of the last layers after the context."""
        rows = torch.arange(len(self), len(self) + keys.shape[2], device=self.device)
        panels, lanes = rows // self._key_lanes, rows % self._key_lanes
        self.keys[first_layer:, :, panels, :, lanes] = keys.permute(2, 0, 1, 3).to(self.keys.dtype)
        self.values[first_layer:, :, len(self) : len(self) + len(rows)] = values

    def commit(self, ids: list[int]) -> None:
        """Keep the first rows of the last pass, one for each of these tokens."""
        self.ids.extend(ids)

    def crop(self, length: int) -> None:
        """Keep only the first ``length`` tokens."""
        del self.ids[length:]
        self._last_hidden = {
            num: hidden for num, hidden in self._last_hidden.items() if num <= length
        }

    def keep_last_hidden(self, hidden: Tensor) -> None:
        """Keep the last token's hidden state (hidden,), which predicts the next token."""
        self._last_hidden[len(self)] = hidden

    def last_hidden(self, length: int) -> Tensor | None:
        """Return the hidden state of the last of the first ``length`` tokens, None if not kept."""
        return self._last_hidden.get(length)

    def copy_prefix(self, other: "KvCache", length: int) -> None:
        """Copy the first tokens of another context into this empty one."""
        self.reserve(length)
        self._copy_tokens(other.keys, other.values, length)
        self.ids = other.ids[:length]

    def _copy_tokens(self, keys: Tensor, values: Tensor, length: int) -> None:
        num_panels = -(-length // self._key_lanes)
        self.keys[:, :, :num_panels] = keys[:, :, :num_panels]
        self.values[:, :, :length] = values[:, :, :length]


def _with_room(tensor: Tensor, length: int) -> Tensor:
    return tensor.new_empty((*tensor.shape[:2], length, *tensor.shape[3:]))
