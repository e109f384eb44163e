"""A backbone over a batch of holes, with gradients for what is trained alone.

The same arithmetic as ``families/causal_backbone.py``, which runs one hole in place and keeps no
gradients; a test holds the two together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter
from intarsia.engine.families.masked_causal.backbone.lora_layers import LowRankLayer
from intarsia.engine.families.masked_causal.backbone.rotary import inverse_frequencies
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.research.training.canvas_batch import CanvasBatch

KeysValues: TypeAlias = Sequence[tuple[Tensor, Tensor]]  # per layer, (holes, heads, length, dim)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FrozenPass:
    """What the backbone makes of the known text."""

    hidden: Tensor  # (holes, length, hidden), after the last norm
    keys_values: KeysValues


class BatchedBackbone:
    """Frozen weights."""

    def __init__(self, shape: BackboneShape, weights: BackboneWeights, *, mask_id: int) -> None:
        self.shape = shape
        self.weights = weights
        self.mask_id = mask_id
        self.device = weights.embed.device
        self.dtype = weights.embed.dtype
        self._frequencies = inverse_frequencies(shape).to(self.device)

    @torch.no_grad()
    def read(self, ids: Tensor) -> FrozenPass:
        """Run known text (holes, length) on the frozen, causal path."""
        held: list[tuple[Tensor, Tensor]] = []
        hidden = self._run_causally(ids, [None] * self.shape.num_layers, held)
        return FrozenPass(hidden=hidden, keys_values=held)

    def tuned(self, ids: Tensor, tuning: Sequence[LowRankLayer]) -> Tensor:
        """Run text on the causal path with low-rank changes to all rows; return hidden states
        (holes, length, hidden)."""
        return self._run_causally(ids, tuning, None)

    def _run_causally(
        self,
        ids: Tensor,
        tuning: Sequence[LowRankLayer | None],
        held: list[tuple[Tensor, Tensor]] | None,
    ) -> Tensor:
        x = F.embedding(ids, self.weights.embed)
        turn = self._rotation(torch.arange(ids.shape[1], device=self.device)[None])
        groups = self.shape.num_groups
        for layer, added in zip(self.weights.layers, tuning, strict=True):
            q, k, v = self._qkv(x, layer, added.qkv if added else None, turn)
            mixed = F.scaled_dot_product_attention(
                q, k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1), is_causal=True
            )
            x = x + _linear(_joined(mixed), layer.o, None, added.o if added else None)
            x = x + self._feed_forward(x, layer, added)
            if held is not None:
                held.append((k, v))
        return self._norm(x, self.weights.norm)

    def canvases(self, batch: CanvasBatch, read: FrozenPass, adapter: GatedAdapter) -> Tensor:
        """Run the canvas rows on the adapted path; return hidden states (holes, rows, hidden)."""
        x = F.embedding(batch.row_ids, self.weights.embed)
        is_mask = (batch.row_ids == self.mask_id)[..., None]
        x = torch.where(is_mask, x + adapter.mask, x)
        turn = self._rotation(batch.row_positions)
        bias = self._bias(batch)
        for layer, held, added in zip(
            self.weights.layers, read.keys_values, adapter.layers, strict=True
        ):
            x = x + self._attend(x, layer, added, held, bias, turn)
            x = x + self._feed_forward(x, layer, added)
        return self._norm(x, self.weights.norm)

    def _attend(
        self,
        x: Tensor,
        layer: LayerWeights,
        added: LowRankLayer,
        held: tuple[Tensor, Tensor],
        bias: Tensor,
        turn: tuple[Tensor, Tensor],
    ) -> Tensor:
        num_holes, num_rows = x.shape[:2]
        q, k, v = self._qkv(x, layer, added.qkv, turn)
        keys, values = torch.cat([held[0], k], dim=2), torch.cat([held[1], v], dim=2)
        # A group's query heads are laid under each other as rows, as in causal_backbone.
        q = q.reshape(num_holes, self.shape.num_kv_heads, self.shape.num_groups * num_rows, -1)
        mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=bias)
        mixed = mixed.view(num_holes, self.shape.num_heads, num_rows, -1)
        return _linear(_joined(mixed), layer.o, None, added.o)

    def _bias(self, batch: CanvasBatch) -> Tensor:
        """Return (holes, 1, groups × rows, length + rows): rows see their anchor's text and each
        other; a padding row sees the first token and its like, lest it see nothing."""
        length = batch.ids.shape[1]
        sees_text = torch.arange(length, device=self.device) < batch.row_anchors[..., None]
        sees_row = batch.row_canvases[:, :, None] == batch.row_canvases[:, None, :]
        visible = torch.cat([sees_text, sees_row], dim=-1)
        bias = torch.zeros(visible.shape, dtype=self.dtype, device=self.device)
        bias = bias.masked_fill_(~visible, -torch.inf)
        return bias.repeat(1, self.shape.num_groups, 1)[:, None]

    def _qkv(
        self,
        x: Tensor,
        layer: LayerWeights,
        added: LowRank | None,
        turn: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        shape = self.shape
        qkv = _linear(self._norm(x, layer.attn_norm), layer.qkv, layer.qkv_bias, added)
        heads = qkv.view(*x.shape[:2], -1, shape.head_dim).transpose(1, 2)
        q, k, v = torch.split(
            heads, [shape.num_heads, shape.num_kv_heads, shape.num_kv_heads], dim=1
        )
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self._norm(q, layer.q_norm), self._norm(k, layer.k_norm)
        return _rotate(q, turn), _rotate(k, turn), v

    def _feed_forward(self, x: Tensor, layer: LayerWeights, added: LowRankLayer | None) -> Tensor:
        normed = self._norm(x, layer.mlp_norm)
        gate, up = _linear(normed, layer.gate_up, None, added.gate_up if added else None).chunk(
            2, dim=-1
        )
        return _linear(F.silu(gate) * up, layer.down, None, added.down if added else None)

    def _rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = positions[..., None].float() * self._frequencies
        return angles.cos().to(self.dtype)[:, None], angles.sin().to(self.dtype)[:, None]

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.norm_eps)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None, added: LowRank | None) -> Tensor:
    y = F.linear(x, weight, bias)
    return y if added is None else y + F.linear(F.linear(x, added.down), added.up)


def _rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotate x (holes, heads, rows, head_dim)."""
    cosine, sine = turn
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def _joined(mixed: Tensor) -> Tensor:
    """(holes, heads, rows, head_dim) → (holes, rows, heads × head_dim)."""
    return mixed.transpose(1, 2).flatten(2)
