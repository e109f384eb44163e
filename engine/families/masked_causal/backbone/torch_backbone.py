"""A causal backbone that torch runs, on any device and in any number format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.drafter import Drafter, Drafting
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import (
    inverse_frequencies,
    rotate,
    rotation,
)
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import (
    BackboneWeights,
    Embeddings,
    LayerWeights,
)

_TYPICAL_ROWS = 8  # oneDNN packs a matrix for this number; others run nearly as fast


class Matrix(Protocol):
    """A weight (out, in) and perhaps a bias."""

    def multiply(self, x: Tensor) -> Tensor:
        """Return (rows, out) of (rows, in), in the same number format."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A weight in the number format that a pass computes in."""

    weight: Tensor
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class PackedLinear:
    """A weight in oneDNN's own order; a plain one is brought into it at every product."""

    packed: Tensor  # in a layout that no other operation reads
    bias: Tensor | None = None

    def multiply(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")
        return y


def pack(weight: Tensor, bias: Tensor | None = None) -> PackedLinear:
    """Return a weight (out, in) in oneDNN's order. Raises RuntimeError where oneDNN cannot."""
    return PackedLinear(torch.ops.mkldnn._reorder_linear_weight(weight, _TYPICAL_ROWS), bias)


@cache
def can_pack(dtype: torch.dtype) -> bool:
    """Tell whether matrices of this number format can be packed here, and multiply right."""
    weight = torch.arange(60 * 36, dtype=torch.float32).sin().to(dtype).view(60, 36)
    for num_rows in (1, _TYPICAL_ROWS, 70):
        x = torch.arange(num_rows * 36, dtype=torch.float32).cos().to(dtype).view(num_rows, 36)
        try:
            products = pack(weight).multiply(x)
        except (AttributeError, NotImplementedError, RuntimeError):
            return False
        if not torch.allclose(products, F.linear(x, weight), rtol=0.02, atol=0.02):
            return False
    return True


MatrixFormat: TypeAlias = Literal["plain", "packed"]


class MatrixOf(Protocol):
    """Brings a weight (out, in) and its bias (out,) into a format."""

    def __call__(self, weight: Tensor, bias: Tensor | None = None) -> Matrix: ...


_MATRIX_OF: Mapping[MatrixFormat, MatrixOf] = {"plain": Linear, "packed": pack}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TorchLayer:
    """One layer."""

    attn_norm: Tensor
    qkv: Matrix
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: Matrix
    mlp_norm: Tensor
    gate_up: Matrix
    down: Matrix


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TorchWeights:
    """All layers, the last norm, the output matrix and the embeddings."""

    embeddings: Embeddings
    output: Matrix  # (vocab, hidden)
    norm: Tensor  # (hidden,)
    layers: tuple[TorchLayer, ...]


def torch_weights(weights: BackboneWeights, format_: MatrixFormat) -> TorchWeights:
    """Return the weights with their matrices in a format.

    Packed layers refer to nothing of the given ones, so that a mapped file can be released. The
    small tensors are copied for that too: a view of the file would hold all of it.
    """
    return TorchWeights(
        embeddings=weights.embeddings,
        output=_MATRIX_OF[format_](weights.output),
        norm=weights.norm.clone(),
        layers=tuple(_torch_layer(layer, format_) for layer in weights.layers),
    )


def _torch_layer(layer: LayerWeights, format_: MatrixFormat) -> TorchLayer:
    matrix_of = _MATRIX_OF[format_]
    return TorchLayer(
        attn_norm=layer.attn_norm.clone(),
        qkv=matrix_of(layer.qkv, _copy(layer.qkv_bias)),
        q_norm=_copy(layer.q_norm),
        k_norm=_copy(layer.k_norm),
        o=matrix_of(layer.o),
        mlp_norm=layer.mlp_norm.clone(),
        gate_up=matrix_of(layer.gate_up),
        down=matrix_of(layer.down),
    )


def _copy(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()


# On a CPU 256 tokens cost 5 % more time than 512, and 128 cost 22 % more (1,900 tokens).
_CHUNK = 512
_CPU_CHUNK = 256


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Pass:
    """What all layers of one pass share."""

    cache: KvCache
    bias: Tensor  # (query heads per key-value head · rows, context + rows): -inf where masked
    cosine: Tensor  # (rows, head_dim / 2)
    sine: Tensor  # (rows, head_dim / 2)


class TorchBackbone(CausalBackbone):
    """A backbone's weights, and a pass over them in torch."""

    def __init__(
        self,
        shape: BackboneShape,
        weights: TorchWeights,
        *,
        drafter: Drafter | None = None,
    ) -> None:
        super().__init__(shape, weights.embeddings)
        self.dtype = weights.norm.dtype
        self._weights = weights
        self._frequencies = inverse_frequencies(shape).to(self.device)
        if drafter is not None:
            self.drafting = Drafting(
                drafter, weights.embeddings, shape, _DraftProducts(self, drafter)
            )

    @property
    def chunk_tokens(self) -> int:
        return _CPU_CHUNK if self.device.type == "cpu" else _CHUNK

    def new_cache(self) -> KvCache:
        return KvCache(
            self.shape,
            dtype=self.dtype,
            device=self.device,
            num_draft_layers=self.num_draft_layers,
        )

    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        cache.reserve(len(rows.ids))
        states: list[Tensor] = []
        x = F.embedding(rows.ids, self.embeddings.embed)
        shared = self._shared(rows, cache)
        for i, layer in enumerate(self._weights.layers):
            if self.drafting is not None and i in self.drafting.taps:
                states.append(x)
            x = self._run_layer(x, i, layer, shared)
        if self.drafting is not None:
            self.drafting.read(torch.stack(states, dim=1), rows.positions, cache)
        return self._norm(x[rows.first_hidden :], self._weights.norm)

    def run_draft(
        self, x: Tensor, layers: Sequence[TorchLayer], norm: Tensor, cache: KvCache
    ) -> Tensor:
        """Run a drafter's layers over a causal block (rows, hidden); return hidden states."""
        cache.reserve(len(x))
        rows = frozen_rows([0] * len(x), start=len(cache), device=self.device)
        shared = self._shared(rows, cache)
        for i, layer in enumerate(layers, start=self.shape.num_layers):
            x = self._run_layer(x, i, layer, shared)
        return self._norm(x, norm)

    def _run_layer(self, x: Tensor, i: int, layer: TorchLayer, shared: _Pass) -> Tensor:
        x = x + self._attend(x, i, layer, shared)
        return x + self._feed_forward(x, layer)

    def _shared(self, rows: Rows, cache: KvCache) -> _Pass:
        cosine, sine = rotation(rows.positions, self._frequencies, self.dtype)
        bias = torch.zeros(rows.visible.shape, dtype=self.dtype, device=self.device)
        bias = bias.masked_fill_(~rows.visible, -torch.inf).repeat(self.shape.num_groups, 1)
        return _Pass(cache=cache, bias=bias, cosine=cosine, sine=sine)

    def logits(self, hidden: Tensor) -> Tensor:
        return self._weights.output.multiply(hidden)

    def _attend(self, x: Tensor, i: int, layer: TorchLayer, shared: _Pass) -> Tensor:
        """Return what the attention of layer ``i`` adds to x (rows, hidden)."""
        shape, num_rows = self.shape, x.shape[0]
        qkv = layer.qkv.multiply(self._norm(x, layer.attn_norm))
        heads = qkv.view(num_rows, -1, shape.head_dim).transpose(0, 1)  # (heads, rows, head_dim)
        q, k, v = torch.split(heads, [shape.num_heads, shape.num_kv_heads, shape.num_kv_heads])
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self._norm(q, layer.q_norm), self._norm(k, layer.k_norm)
        cosine, sine = shared.cosine, shared.sine
        keys, values = shared.cache.write(i, rotate(k, cosine, sine), v)
        # A group's query heads become rows of one head, so that the keys are read once for all.
        q = rotate(q, cosine, sine).reshape(1, shape.num_kv_heads, shape.num_groups * num_rows, -1)
        mixed = F.scaled_dot_product_attention(q, keys[None], values[None], attn_mask=shared.bias)
        mixed = mixed.view(shape.num_heads, num_rows, -1).transpose(0, 1).reshape(num_rows, -1)
        return layer.o.multiply(mixed)

    def _feed_forward(self, x: Tensor, layer: TorchLayer) -> Tensor:
        gate, up = layer.gate_up.multiply(self._norm(x, layer.mlp_norm)).chunk(2, dim=-1)
        return layer.down.multiply(F.silu(gate) * up)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.norm_eps)


class _DraftProducts:
    """A drafter's products in torch."""

    def __init__(self, backbone: TorchBackbone, drafter: Drafter) -> None:
        self._backbone = backbone
        self._drafter = drafter
        self._output = backbone.embeddings.output[drafter.vocabulary]
        self._layers = [_torch_layer(layer, "plain") for layer in drafter.layers]

    def read(self, states: Tensor) -> Tensor:
        return self._drafter.read(states)

    def run(self, x: Tensor, cache: KvCache) -> Tensor:
        return self._backbone.run_draft(x, self._layers, self._drafter.norm, cache)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self._output)
