"""A causal backbone of the Llama kind whose passes mix two kinds of rows.

Token ids and positions come in, hidden states and logits go out. Frozen rows are the backbone just
as it was trained; canvas rows pass through the gated adapter too and may look both ways. Knows
neither text nor how a proposal is settled.
"""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.diffusion.verify import NamedToken, name_tokens
from intarsia.engine.families.backbone_shape import BackboneShape
from intarsia.engine.families.kv_cache import KvCache
from intarsia.engine.families.pass_weights import PassLayer, PassWeights
from intarsia.engine.families.rotary import inverse_frequencies, rotate, rotation

_NUM_CANDIDATES = 32


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rows:
    """The query rows of one pass, behind a context of keys and values."""

    ids: Tensor  # (rows,) long; the mask id where a canvas row is masked
    positions: Tensor  # (rows,) long
    num_frozen: int  # the first rows are frozen, the others are the canvas
    visible: Tensor  # (rows, context + rows) bool: what each row attends to


class CausalBackbone:
    """Weights, and one pass over them."""

    def __init__(
        self,
        shape: BackboneShape,
        weights: PassWeights,
        *,
        mask_id: int,
    ) -> None:
        self.shape = shape
        self.mask_id = mask_id
        self.device = weights.norm.device
        self.dtype = weights.norm.dtype
        self._weights = weights
        self._frequencies = inverse_frequencies(shape).to(self.device)

    @property
    def has_adapter(self) -> bool:
        """Whether it can run canvas rows."""
        return self._weights.mask is not None

    @property
    def has_head(self) -> bool:
        """Whether it can name a proposal serially."""
        return self._weights.head is not None

    def new_cache(self) -> KvCache:
        """Return an empty context."""
        return KvCache(self.shape, dtype=self.dtype, device=self.device)

    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        """Run one pass; return hidden states (rows, hidden).

        The rows' keys and values lie behind the context: ``cache.commit`` keeps the first rows'.
        """
        x = self._embed(rows)
        cosine, sine = rotation(rows.positions, self._frequencies, self.dtype)
        bias = torch.zeros(rows.visible.shape, dtype=self.dtype, device=self.device)
        bias = bias.masked_fill_(~rows.visible, -torch.inf).repeat(self.shape.num_groups, 1)
        cache.reserve(len(rows.ids))
        for i, layer in enumerate(self._weights.layers):
            x = x + self._attend(x, i, layer, rows, cache, bias, cosine, sine)
            x = x + self._feed_forward(x, layer, rows.num_frozen)
        return self._norm(x, self._weights.norm)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits (rows, vocab) of hidden states (rows, hidden)."""
        return self._weights.output.multiply(hidden)

    def name_serially(self, hidden: Tensor, logits: Tensor, named: int) -> list[NamedToken]:
        """Return the tokens of a proposal's rows (rows, hidden), (rows, vocab), each put right by
        the adapter's head once the one before is named; ``named`` stands before the first.

        Only the likeliest few of each row are weighed again, so no second pass over the output
        matrix is made.
        """
        head = self._weights.head
        assert head is not None
        candidates = logits.topk(min(_NUM_CANDIDATES, logits.shape[-1])).indices
        tokens: list[NamedToken] = []
        own = torch.tensor([named], device=self.device)
        for row, ids in zip(hidden, candidates, strict=True):
            put_right = head(row, self._weights.embed[own[0]])
            scores = F.linear(put_right, self._weights.output_rows[ids])
            best = name_tokens(scores[None], [int(scores.argmax())])[0]
            own = ids[best.id : best.id + 1]
            tokens.append(replace(best, id=int(own)))
        return tokens

    def _embed(self, rows: Rows) -> Tensor:
        x = F.embedding(rows.ids, self._weights.embed)
        if self._weights.mask is None:
            return x
        is_mask = rows.ids == self.mask_id
        is_mask[: rows.num_frozen] = False
        return torch.where(is_mask[:, None], x + self._weights.mask, x)

    def _attend(
        self,
        x: Tensor,
        i: int,
        layer: PassLayer,
        rows: Rows,
        cache: KvCache,
        bias: Tensor,
        cosine: Tensor,
        sine: Tensor,
    ) -> Tensor:
        shape, num_rows = self.shape, x.shape[0]
        qkv = layer.qkv.multiply(self._norm(x, layer.attn_norm), rows.num_frozen)
        heads = qkv.view(num_rows, -1, shape.head_dim).transpose(0, 1)  # (heads, rows, head_dim)
        q, k, v = torch.split(heads, [shape.num_heads, shape.num_kv_heads, shape.num_kv_heads])
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self._norm(q, layer.q_norm), self._norm(k, layer.k_norm)
        keys, values = cache.write(i, rotate(k, cosine, sine), v)
        # A group's query heads are laid under each other as rows: one read of the keys serves all.
        q = rotate(q, cosine, sine).reshape(1, shape.num_kv_heads, shape.num_groups * num_rows, -1)
        mixed = F.scaled_dot_product_attention(q, keys[None], values[None], attn_mask=bias)
        mixed = mixed.view(shape.num_heads, num_rows, -1).transpose(0, 1).reshape(num_rows, -1)
        return layer.o.multiply(mixed, rows.num_frozen)

    def _feed_forward(self, x: Tensor, layer: PassLayer, num_frozen: int) -> Tensor:
        both = layer.gate_up.multiply(self._norm(x, layer.mlp_norm), num_frozen)
        gate, up = both.chunk(2, dim=-1)
        return layer.down.multiply(F.silu(gate) * up, num_frozen)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.norm_eps)
