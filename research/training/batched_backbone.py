"""A causal backbone over a batch of holes, with gradients for the trained weights only.

It computes what the engine's ``masked_causal/backbone`` computes for one hole in place, without
gradients; a test compares the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device, choose_dtype
from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.families.masked_causal.backbone.rotary import (
    inverse_frequencies,
    rotate,
    rotation,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import read_torch_weights
from intarsia.engine.families.masked_causal.backbone.tuning import (
    LowRankLayer,
    rows_tuned_by,
    tune,
)
from intarsia.engine.families.masked_causal.backbone.weights import (
    BackboneWeights,
    LayerWeights,
)
from intarsia.engine.model_store.checkpoint import is_run_by_transformers
from intarsia.engine.model_store.locate import locate_model

ReportProgress: TypeAlias = Callable[[str, float | None], None]
"""Gets a line for the user, and the share that is done; None: unknown."""


class BatchedBackbone:
    """A backbone with frozen weights. Low-rank changes are arguments of its forward passes."""

    def __init__(self, shape: BackboneShape, weights: BackboneWeights) -> None:
        self.shape = shape
        self.weights = weights
        self.device = weights.embed.device
        self.dtype = weights.embed.dtype
        self._frequencies = torch.from_numpy(inverse_frequencies(shape)).to(self.device)

    def turns(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return cosine and sine, each (…, rows, head_dim / 2), for positions (…, rows)."""
        cosine, sine = rotation(positions, self._frequencies)
        return cosine.to(self.dtype), sine.to(self.dtype)

    def forward_tuned(
        self,
        ids: Tensor,
        tuning: Sequence[LowRankLayer | None],
        states: list[Tensor] | None = None,
        keys_values: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Run text (holes, length) causally with low-rank changes to all rows; return hidden states
        (holes, length, hidden). Each layer's rows are appended to ``states``, in the same shape;
        its keys and values, (holes, kv heads, length, head_dim) each, to ``keys_values``."""
        x = F.embedding(ids, self.weights.embed)
        positions = torch.arange(ids.shape[1], device=self.device)
        turns = self.turns(positions)
        groups = self.shape.num_groups
        for layer, lora in zip(self.weights.layers, tuning, strict=True):
            q, k, v = self.qkv(x, layer, lora["qkv"] if lora else None, turns)
            if keys_values is not None:
                keys_values.append((k, v))
            attended = F.scaled_dot_product_attention(
                q, k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1), is_causal=True
            )
            x = x + linear(join_heads(attended), layer.o, None, lora["o"] if lora else None)
            x = x + self.feed_forward(x, layer, lora)
            if states is not None:
                states.append(x)
        return self.norm(x, self.weights.norm)

    def qkv(
        self,
        x: Tensor,
        layer: LayerWeights,
        lora: LowRank | None,
        turns: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return a layer's queries and keys, turned, and values: (holes, heads, rows, head_dim)."""
        shape = self.shape
        qkv = linear(self.norm(x, layer.attn_norm), layer.qkv, layer.qkv_bias, lora)
        heads = qkv.view(*x.shape[:2], -1, shape.head_dim).transpose(1, 2)
        q, k, v = torch.split(
            heads, [shape.num_heads, shape.num_kv_heads, shape.num_kv_heads], dim=1
        )
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self.norm(q, layer.q_norm), self.norm(k, layer.k_norm)
        return rotate(q, *turns), rotate(k, *turns), v

    def feed_forward(self, x: Tensor, layer: LayerWeights, lora: LowRankLayer | None) -> Tensor:
        """Return what the second half of a layer adds to x (holes, rows, hidden)."""
        normed = self.norm(x, layer.mlp_norm)
        gate, up = linear(normed, layer.gate_up, None, lora["gate_up"] if lora else None).chunk(
            2, dim=-1
        )
        return linear(F.silu(gate) * up, layer.down, None, lora["down"] if lora else None)

    def norm(self, x: Tensor, weight: Tensor) -> Tensor:
        """Return rows divided by their root mean square, times a weight."""
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.norm_eps)


class UsedVocabulary:
    """``ids`` (used,): the tokens that can be predicted, in order; ``output`` (used, hidden): their
    rows of the output matrix."""

    def __init__(self, backbone: BatchedBackbone, ids: Tensor) -> None:
        self.ids = torch.unique(ids).to(backbone.device)
        self.output = backbone.weights.output[self.ids]
        size = backbone.shape.vocab_size
        self._indexes = torch.full((size,), -1, dtype=torch.long, device=backbone.device)
        self._indexes[self.ids] = torch.arange(len(self.ids), device=backbone.device)

    def indexes_of(self, tokens: Tensor) -> Tensor:
        """Return the indexes of tokens in ``ids``; -1 for a token that is not in it."""
        return self._indexes[tokens]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingBackbone:
    """A loaded model: its display name, weights and tokenizer."""

    name: str
    backbone: BatchedBackbone
    tokenizer: FimTokenizer


def load_backbone(
    model: str, on_progress: ReportProgress, *, tuning: Path | None = None
) -> TrainingBackbone:
    """Load a model of the masked causal family, with the tunings its name and ``tuning`` give.

    Raises ModelError.
    """
    folder = locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)
    if folder.family != "masked_causal":
        raise ModelError(f"{folder.name} is not a causal backbone: its training differs")
    if is_run_by_transformers(folder.config):
        raise ModelError(f"{folder.name} cannot be trained: only Llama's and Qwen's shapes can")
    on_device = choose_device("auto")
    shape, tokenizer = read_shape(folder.config), read_fim_tokenizer(folder.path)
    if tokenizer.marks.is_suffix_first:
        raise ModelError(f"{folder.name} cannot be trained: its prompts begin with the suffix")
    weights = read_torch_weights(
        folder.weights,
        shape,
        is_fused=folder.is_fused,
        dtype=choose_dtype("auto", on_device),
        device=on_device,
    )
    for path in (*folder.tunings, *([tuning] if tuning else [])):
        weights = tune(weights, shape, path)
    backbone = BatchedBackbone(shape, weights)
    return TrainingBackbone(name=folder.name, backbone=backbone, tokenizer=tokenizer)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None, lora: LowRank | None) -> Tensor:
    """Return a linear layer's output, with its low-rank change."""
    y = F.linear(x, weight, bias)
    return y if lora is None else y + F.linear(F.linear(x, lora.down), lora.up)


def join_heads(attended: Tensor) -> Tensor:
    """(holes, heads, rows, head_dim) → (holes, rows, heads × head_dim)."""
    return attended.transpose(1, 2).flatten(2)
