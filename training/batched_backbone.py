"""A causal backbone over a batch of holes, with gradients for the trained weights only.

It computes what the engine's ``masked_causal/backbone`` computes for one hole in place, without
gradients; a test compares the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import LowRankLayer
from intarsia.engine.families.masked_causal.backbone.rotary import inverse_frequencies
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights

KeysValues: TypeAlias = Sequence[tuple[Tensor, Tensor]]  # per layer, (holes, heads, length, dim)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Prefilled:
    """Known text after a forward pass of the plain backbone."""

    hidden: Tensor  # (holes, length, hidden), after the last norm
    keys_values: KeysValues


class AdaptedRows(Protocol):
    """Rows of a pass that low-rank changes act on, for each hole; some may be padding."""

    @property
    def ids(self) -> Tensor:
        """Known text (holes, length), padded at the end."""
        ...

    @property
    def row_ids(self) -> Tensor:
        """Tokens (holes, rows); the mask id where masked."""
        ...

    @property
    def row_positions(self) -> Tensor:
        """Positions (holes, rows)."""
        ...

    @property
    def row_num_visible(self) -> Tensor:
        """How many of ``ids`` each row sees (holes, rows): at least one."""
        ...

    def sees_row(self) -> Tensor:
        """Return which rows each row sees (holes, rows, rows) bool."""
        ...


class BatchedBackbone:
    """A backbone with frozen weights. Low-rank changes are arguments of its forward passes."""

    def __init__(self, shape: BackboneShape, weights: BackboneWeights, *, mask_id: int) -> None:
        self.shape = shape
        self.weights = weights
        self.mask_id = mask_id
        self.device = weights.embed.device
        self.dtype = weights.embed.dtype
        self._frequencies = inverse_frequencies(shape).to(self.device)

    @torch.no_grad()
    def prefill(self, ids: Tensor) -> Prefilled:
        """Run known text (holes, length) causally, without changes to the weights."""
        keys_values: list[tuple[Tensor, Tensor]] = []
        hidden = self._forward_causal(ids, [None] * self.shape.num_layers, keys_values)
        return Prefilled(hidden=hidden, keys_values=keys_values)

    def forward_tuned(self, ids: Tensor, tuning: Sequence[LowRankLayer]) -> Tensor:
        """Run text (holes, length) causally with low-rank changes to all rows; return hidden states
        (holes, length, hidden)."""
        return self._forward_causal(ids, tuning, None)

    def _forward_causal(
        self,
        ids: Tensor,
        tuning: Sequence[LowRankLayer | None],
        keys_values: list[tuple[Tensor, Tensor]] | None,
    ) -> Tensor:
        """Return hidden states; append each layer's keys and values to ``keys_values``."""
        x = F.embedding(ids, self.weights.embed)
        rotation = self._rotation(torch.arange(ids.shape[1], device=self.device)[None])
        groups = self.shape.num_groups
        for layer, lora in zip(self.weights.layers, tuning, strict=True):
            q, k, v = self._qkv(x, layer, lora.qkv if lora else None, rotation)
            attended = F.scaled_dot_product_attention(
                q, k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1), is_causal=True
            )
            x = x + _linear(_join_heads(attended), layer.o, None, lora.o if lora else None)
            x = x + self._feed_forward(x, layer, lora)
            if keys_values is not None:
                keys_values.append((k, v))
        return self._norm(x, self.weights.norm)

    def forward_adapted(
        self,
        batch: AdaptedRows,
        prefilled: Prefilled,
        layers: Sequence[LowRankLayer],
        *,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Run rows with low-rank changes after known text that was read without these.

        Return hidden states (holes, rows, hidden). ``mask`` (hidden,) is added to the embedding of
        masked rows.
        """
        x = F.embedding(batch.row_ids, self.weights.embed)
        if mask is not None:
            is_mask = (batch.row_ids == self.mask_id)[..., None]
            x = torch.where(is_mask, x + mask, x)
        rotation = self._rotation(batch.row_positions)
        bias = self._bias(batch)
        for layer, context, lora in zip(
            self.weights.layers, prefilled.keys_values, layers, strict=True
        ):
            x = x + self._attend(x, layer, lora, _Visible(*context, bias), rotation)
            x = x + self._feed_forward(x, layer, lora)
        return self._norm(x, self.weights.norm)

    def _attend(
        self,
        x: Tensor,
        layer: LayerWeights,
        lora: LowRankLayer,
        visible: "_Visible",
        rotation: tuple[Tensor, Tensor],
    ) -> Tensor:
        num_holes, num_rows = x.shape[:2]
        q, k, v = self._qkv(x, layer, lora.qkv, rotation)
        keys = torch.cat([visible.keys, k], dim=2)
        values = torch.cat([visible.values, v], dim=2)
        # The query heads of a group become rows, as in the engine's backbone: no key is copied.
        q = q.reshape(num_holes, self.shape.num_kv_heads, self.shape.num_groups * num_rows, -1)
        attended = F.scaled_dot_product_attention(q, keys, values, attn_mask=visible.bias)
        attended = attended.view(num_holes, self.shape.num_heads, num_rows, -1)
        return _linear(_join_heads(attended), layer.o, None, lora.o)

    def _bias(self, batch: AdaptedRows) -> Tensor:
        """Return the attention bias (holes, 1, groups × rows, length + rows).

        A padding row sees at least the first token: a row that sees nothing would give NaN.
        """
        length = batch.ids.shape[1]
        sees_text = torch.arange(length, device=self.device) < batch.row_num_visible[..., None]
        visible = torch.cat([sees_text, batch.sees_row()], dim=-1)
        bias = torch.zeros(visible.shape, dtype=self.dtype, device=self.device)
        bias = bias.masked_fill_(~visible, -torch.inf)
        return bias.repeat(1, self.shape.num_groups, 1)[:, None]

    def _qkv(
        self,
        x: Tensor,
        layer: LayerWeights,
        lora: LowRank | None,
        rotation: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        shape = self.shape
        qkv = _linear(self._norm(x, layer.attn_norm), layer.qkv, layer.qkv_bias, lora)
        heads = qkv.view(*x.shape[:2], -1, shape.head_dim).transpose(1, 2)
        q, k, v = torch.split(
            heads, [shape.num_heads, shape.num_kv_heads, shape.num_kv_heads], dim=1
        )
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self._norm(q, layer.q_norm), self._norm(k, layer.k_norm)
        return _rotate(q, rotation), _rotate(k, rotation), v

    def _feed_forward(self, x: Tensor, layer: LayerWeights, lora: LowRankLayer | None) -> Tensor:
        normed = self._norm(x, layer.mlp_norm)
        gate, up = _linear(normed, layer.gate_up, None, lora.gate_up if lora else None).chunk(
            2, dim=-1
        )
        return _linear(F.silu(gate) * up, layer.down, None, lora.down if lora else None)

    def _rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = positions[..., None].float() * self._frequencies
        return angles.cos().to(self.dtype)[:, None], angles.sin().to(self.dtype)[:, None]

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.norm_eps)


@dataclass(frozen=True, slots=True, eq=False)
class _Visible:
    """What adapted rows attend to in one layer besides their own keys and values."""

    keys: Tensor  # (holes, heads, length, dim)
    values: Tensor  # (holes, heads, length, dim)
    bias: Tensor  # (holes, 1, groups × rows, length + rows)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None, lora: LowRank | None) -> Tensor:
    y = F.linear(x, weight, bias)
    return y if lora is None else y + F.linear(F.linear(x, lora.down), lora.up)


def _rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Apply rotary positions to x (holes, heads, rows, head_dim)."""
    cosine, sine = rotation
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def _join_heads(attended: Tensor) -> Tensor:
    """(holes, heads, rows, head_dim) → (holes, rows, heads × head_dim)."""
    return attended.transpose(1, 2).flatten(2)
