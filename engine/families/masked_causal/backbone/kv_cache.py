"""The KV cache of one context: a pass writes rows after it, and ``commit`` keeps the first ones."""

from collections.abc import Callable

from intarsia.engine.arrays import Array, namespace, rounded_like
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

_GROWTH = 64  # tokens; room is made in steps of this


class KvCache:
    """Keys (layers, kv heads, capacity / key_lanes, head_dim, key_lanes) and values (layers, kv
    heads, capacity, head_dim), in the arrays that ``empty`` makes.

    The keys of ``key_lanes`` tokens are interleaved, so that one vector holds their scores; it is a
    power of two up to 64. The layers of a drafter follow those of the backbone.
    """

    def __init__(
        self,
        shape: BackboneShape,
        empty: Callable[[tuple[int, ...]], Array],
        *,
        key_lanes: int = 1,
        num_draft_layers: int = 0,
    ) -> None:
        self.ids: list[int] = []  # the tokens held, in order
        self._last_hidden: dict[int, Array] = {}  # by length of the context
        heads = (shape.num_layers + num_draft_layers, shape.num_kv_heads)
        self._empty = empty
        self._key_lanes = key_lanes
        self.keys = empty((*heads, 0, shape.head_dim, key_lanes))
        self.values = empty((*heads, 0, shape.head_dim))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def capacity(self) -> int:
        """The number of tokens that fit."""
        capacity: int = self.values.shape[2]
        return capacity

    def reserve(self, num_rows: int) -> None:
        """Make room for this many rows after the context."""
        needed = len(self) + num_rows
        if needed <= self.capacity:
            return
        capacity = -(-needed // _GROWTH) * _GROWTH
        keys, values = self.keys, self.values
        self.keys = self._with_room(keys, capacity // self._key_lanes)
        self.values = self._with_room(values, capacity)
        self._copy_tokens(keys, values, len(self))

    def write(self, layer: int, keys: Array, values: Array) -> tuple[Array, Array]:
        """Write rows (kv heads, rows, head_dim) after the context.

        Returns the keys and values of both (kv heads, context + rows, head_dim). Only for a cache
        with ``key_lanes`` 1.
        """
        start, end = len(self), len(self) + keys.shape[1]
        self.keys[layer, :, start:end, :, 0] = keys
        self.values[layer, :, start:end] = values
        return self.keys[layer, :, :end, :, 0], self.values[layer, :, :end]

    def write_layers(self, first_layer: int, keys: Array, values: Array) -> None:
        """Write rows (layers, kv heads, rows, head_dim) of the last layers after the context."""
        xp = namespace(keys)
        end = len(self) + keys.shape[2]
        rows = xp.arange(len(self), end, device=keys.device)
        panels, lanes = rows // self._key_lanes, rows % self._key_lanes
        by_row = rounded_like(xp.permute_dims(keys, (2, 0, 1, 3)), self.keys)
        self.keys[first_layer:, :, panels, :, lanes] = by_row
        self.values[first_layer:, :, len(self) : end] = rounded_like(values, self.values)

    def commit(self, ids: list[int]) -> None:
        """Keep the first rows of the last pass, one for each of these tokens."""
        self.ids.extend(ids)

    def crop(self, length: int) -> None:
        """Keep only the first ``length`` tokens."""
        del self.ids[length:]
        self._last_hidden = {
            num: hidden for num, hidden in self._last_hidden.items() if num <= length
        }

    def keep_last_hidden(self, hidden: Array) -> None:
        """Keep the last token's hidden state (hidden,), which predicts the next token."""
        self._last_hidden[len(self)] = hidden

    def last_hidden(self, length: int) -> Array | None:
        """Return the hidden state of the last of the first ``length`` tokens, None if not kept."""
        return self._last_hidden.get(length)

    def copy_prefix(self, other: "KvCache", length: int) -> None:
        """Copy the first tokens of another context into this empty one."""
        self.reserve(length)
        self._copy_tokens(other.keys, other.values, length)
        self.ids = other.ids[:length]

    def _copy_tokens(self, keys: Array, values: Array, length: int) -> None:
        num_panels = -(-length // self._key_lanes)
        self.keys[:, :, :num_panels] = keys[:, :, :num_panels]
        self.values[:, :, :length] = values[:, :, :length]

    def _with_room(self, array: Array, length: int) -> Array:
        return self._empty((*array.shape[:2], length, *array.shape[3:]))
