"""A causal backbone that torch runs, on any device and in any number format."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import (
    Embeddings,
    GatedAdapter,
    LowRankLayer,
    embeddings_of,
)
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import (
    inverse_frequencies,
    rotate,
    rotation,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, PartName
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights

_TYPICAL_ROWS = 8  # oneDNN packs a matrix for this number; others run nearly as fast


class Matrix(Protocol):
    """A weight (out, in) and perhaps a bias."""

    def multiply(self, x: Tensor) -> Tensor:
        """Return (rows, out) of (rows, in), in the same number format."""


class RowLinear(Protocol):
    """A matrix of a layer, which may act on some rows in another way than on frozen rows."""

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        """Return (rows, out) of (rows, in); an adapter acts after the first ``num_frozen`` rows."""


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


@dataclass(frozen=True, slots=True, eq=False)
class UnadaptedLinear:
    """A matrix without an adapter: all rows are multiplied in the same way."""

    matrix: Matrix

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        return self.matrix.multiply(x)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedLinear:
    """A matrix and an adapter next to it. The weight stays as it is, perhaps mapped from a file."""

    matrix: Matrix
    down: Matrix  # (rank, in)
    up: Matrix  # (out, rank)

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        y = self.matrix.multiply(x)
        if num_frozen < len(x):
            y[num_frozen:] += self.up.multiply(self.down.multiply(x[num_frozen:]))
        return y


@dataclass(frozen=True, slots=True, eq=False)
class FusedLinear:
    """A copied matrix with the adapter's down matrix as last rows: one product is faster."""

    matrix: Matrix  # (out + rank, in)
    num_out: int
    up: Matrix  # (out, rank)

    def multiply(self, x: Tensor, num_frozen: int) -> Tensor:
        both = self.matrix.multiply(x)
        y = both[:, : self.num_out]
        if num_frozen < len(x):
            inner = both[num_frozen:, self.num_out :]
            y[num_frozen:] += self.up.multiply(inner.contiguous())
        return y


MatrixFormat: TypeAlias = Literal["plain", "packed"]


class MatrixOf(Protocol):
    """Brings a weight (out, in) and its bias (out,) into a format."""

    def __call__(self, weight: Tensor, bias: Tensor | None = None) -> Matrix: ...


_MATRIX_OF: Mapping[MatrixFormat, MatrixOf] = {"plain": Linear, "packed": pack}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TorchLayer:
    """One layer; its matrices include the adapter's."""

    attn_norm: Tensor
    qkv: RowLinear
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: RowLinear
    mlp_norm: Tensor
    gate_up: RowLinear
    down: RowLinear


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TorchWeights:
    """All layers, the last norm, the output matrix and the embeddings."""

    embeddings: Embeddings
    output: Matrix  # (vocab, hidden)
    norm: Tensor  # (hidden,)
    layers: tuple[TorchLayer, ...]


def torch_weights(
    weights: BackboneWeights, adapter: GatedAdapter | None, format_: MatrixFormat
) -> TorchWeights:
    """Return the weights with their matrices in a format.

    Packed layers refer to nothing of the given ones, so that a mapped file can be released. The
    small tensors are copied for that too: a view of the file would hold all of it.
    """
    return TorchWeights(
        embeddings=embeddings_of(weights, adapter),
        output=_MATRIX_OF[format_](weights.output),
        norm=weights.norm.clone(),
        layers=tuple(
            _torch_layer(layer, None if adapter is None else adapter.layers[number], format_)
            for number, layer in enumerate(weights.layers)
        ),
    )


def _torch_layer(
    layer: LayerWeights, change: LowRankLayer | None, format_: MatrixFormat
) -> TorchLayer:
    def of(part: PartName) -> LowRank | None:
        return None if change is None else change[part]

    return TorchLayer(
        attn_norm=layer.attn_norm.clone(),
        qkv=_linear(layer.qkv, layer.qkv_bias, of("qkv"), format_),
        q_norm=_copy(layer.q_norm),
        k_norm=_copy(layer.k_norm),
        o=_linear(layer.o, None, of("o"), format_),
        mlp_norm=layer.mlp_norm.clone(),
        gate_up=_linear(layer.gate_up, None, of("gate_up"), format_),
        down=_linear(layer.down, None, of("down"), format_),
    )


def _linear(
    weight: Tensor,
    bias: Tensor | None,
    change: LowRank | None,
    format_: MatrixFormat,
) -> RowLinear:
    matrix_of = _MATRIX_OF[format_]
    if change is None:
        return UnadaptedLinear(matrix_of(weight, _copy(bias)))
    if format_ == "plain":
        return AdaptedLinear(matrix_of(weight, bias), Linear(change.down), Linear(change.up))
    padded = None if bias is None else torch.cat([bias, bias.new_zeros(len(change.down))])
    joined = matrix_of(torch.cat([weight, change.down]), padded)
    return FusedLinear(joined, num_out=len(weight), up=matrix_of(change.up))


def _copy(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()


# On a CPU 256 tokens cost 5 % more time than 512, and 128 cost 22 % more (1,900 tokens).
_CHUNK = 512
_CPU_CHUNK = 256


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Pass:
    """What all layers of one pass share."""

    num_frozen: int
    cache: KvCache
    bias: Tensor  # (query heads per key-value head · rows, context + rows): -inf where masked
    cosine: Tensor  # (rows, head_dim / 2)
    sine: Tensor  # (rows, head_dim / 2)


class TorchBackbone(CausalBackbone):
    """A backbone's weights, and a pass over them in torch."""

    def __init__(self, shape: BackboneShape, weights: TorchWeights, *, mask_id: int) -> None:
        super().__init__(shape, weights.embeddings, mask_id=mask_id)
        self.dtype = weights.norm.dtype
        self._weights = weights
        self._frequencies = inverse_frequencies(shape).to(self.device)

    @property
    def chunk_tokens(self) -> int:
        return _CPU_CHUNK if self.device.type == "cpu" else _CHUNK

    def new_cache(self) -> KvCache:
        return KvCache(self.shape, dtype=self.dtype, device=self.device)

    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        x = self._embed(rows)
        cosine, sine = rotation(rows.positions, self._frequencies, self.dtype)
        bias = torch.zeros(rows.visible.shape, dtype=self.dtype, device=self.device)
        bias = bias.masked_fill_(~rows.visible, -torch.inf).repeat(self.shape.num_groups, 1)
        cache.reserve(len(rows.ids))
        shared = _Pass(
            num_frozen=rows.num_frozen,
            cache=cache,
            bias=bias,
            cosine=cosine,
            sine=sine,
        )
        for i, layer in enumerate(self._weights.layers):
            x = x + self._attend(x, i, layer, shared)
            x = x + self._feed_forward(x, layer, shared)
        return self._norm(x[rows.first_hidden :], self._weights.norm)

    def logits(self, hidden: Tensor) -> Tensor:
        return self._weights.output.multiply(hidden)

    def _attend(self, x: Tensor, i: int, layer: TorchLayer, shared: _Pass) -> Tensor:
        """Return what the attention of layer ``i`` adds to x (rows, hidden)."""
        shape, num_rows = self.shape, x.shape[0]
        qkv = layer.qkv.multiply(self._norm(x, layer.attn_norm), shared.num_frozen)
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
        return layer.o.multiply(mixed, shared.num_frozen)

    def _feed_forward(self, x: Tensor, layer: TorchLayer, shared: _Pass) -> Tensor:
        both = layer.gate_up.multiply(self._norm(x, layer.mlp_norm), shared.num_frozen)
        gate, up = both.chunk(2, dim=-1)
        return layer.down.multiply(F.silu(gate) * up, shared.num_frozen)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.norm_eps)
