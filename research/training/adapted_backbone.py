"""A causal backbone that reads known text plainly, and rows after it with low-rank changes.

It computes what the engine's gated adapter computes for one hole in place, without gradients; a
test compares the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from intarsia.engine.families.masked_causal.backbone.adapter import LowRankLayer
from intarsia.engine.families.masked_causal.backbone.rotary import rotation
from intarsia.engine.families.masked_causal.backbone.weights import LayerWeights
from intarsia.training.batched_backbone import BatchedBackbone, join_heads, linear
from intarsia_research.training.canvas_batch import CanvasBatch

KeysValues: TypeAlias = Sequence[tuple[Tensor, Tensor]]  # per layer, (holes, heads, length, dim)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Prefilled:
    """Known text after a forward pass of the plain backbone."""

    hidden: Tensor  # (holes, length, hidden), after the last norm
    keys_values: KeysValues


class AdaptedBackbone(BatchedBackbone):
    """A backbone with frozen weights, for rows of canvases after known text."""

    @classmethod
    def of(cls, backbone: BatchedBackbone) -> "AdaptedBackbone":
        """Return a backbone with the weights of another one."""
        return cls(backbone.shape, backbone.weights, mask_id=backbone.mask_id)

    @property
    def _attention(self) -> list[SDPBackend]:
        """What may compute attention. On an H100 (torch 2.11) the kernel that torch chose gave NaN
        gradients under this mask; the plain one did not."""
        plain = [SDPBackend.MATH]
        return plain if self.device.type == "cuda" else [SDPBackend.FLASH_ATTENTION, *plain]

    @torch.no_grad()
    def prefill(self, ids: Tensor) -> Prefilled:
        """Run known text (holes, length) causally, without changes to the weights."""
        keys_values: list[tuple[Tensor, Tensor]] = []
        hidden = self.forward_tuned(ids, [None] * self.shape.num_layers, keys_values)
        return Prefilled(hidden=hidden, keys_values=keys_values)

    def forward_adapted(
        self,
        batch: CanvasBatch,
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
        turns = rotation(batch.row_positions[:, None], self._frequencies, self.dtype)
        bias = self._bias(batch)
        for layer, context, lora in zip(
            self.weights.layers, prefilled.keys_values, layers, strict=True
        ):
            x = x + self._attend(x, layer, lora, _Visible(*context, bias), turns)
            x = x + self._feed_forward(x, layer, lora)
        return self._norm(x, self.weights.norm)

    def _attend(
        self,
        x: Tensor,
        layer: LayerWeights,
        lora: LowRankLayer,
        visible: "_Visible",
        turns: tuple[Tensor, Tensor],
    ) -> Tensor:
        num_holes, num_rows = x.shape[:2]
        q, k, v = self._qkv(x, layer, lora["qkv"], turns)
        keys = torch.cat([visible.keys, k], dim=2)
        values = torch.cat([visible.values, v], dim=2)
        # The query heads of a group become rows, as in the engine's backbone: no key is copied.
        q = q.reshape(num_holes, self.shape.num_kv_heads, self.shape.num_groups * num_rows, -1)
        with sdpa_kernel(self._attention):
            attended = F.scaled_dot_product_attention(q, keys, values, attn_mask=visible.bias)
        attended = attended.view(num_holes, self.shape.num_heads, num_rows, -1)
        return linear(join_heads(attended), layer.o, None, lora["o"])

    def _bias(self, batch: CanvasBatch) -> Tensor:
        """Return the attention bias (holes, 1, groups × rows, length + rows).

        A padding row sees at least the first token: a row that sees nothing would give NaN.
        """
        length = batch.ids.shape[1]
        sees_text = torch.arange(length, device=self.device) < batch.row_num_visible[..., None]
        visible = torch.cat([sees_text, batch.sees_row()], dim=-1)
        bias = torch.zeros(visible.shape, dtype=self.dtype, device=self.device)
        bias = bias.masked_fill_(~visible, -torch.inf)
        return bias.repeat(1, self.shape.num_groups, 1)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class _Visible:
    """What adapted rows attend to in one layer besides their own keys and values."""

    keys: Tensor  # (holes, heads, length, dim)
    values: Tensor  # (holes, heads, length, dim)
    bias: Tensor  # (holes, 1, groups × rows, length + rows)
