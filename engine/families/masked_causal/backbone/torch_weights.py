"""A backbone's weights as its passes multiply by them: tensors come in, matrices go out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter
from intarsia.engine.families.masked_causal.backbone.embeddings import Embeddings, model_ends
from intarsia.engine.families.masked_causal.backbone.linear import (
    AdaptedLinear,
    Linear,
    Matrix,
    apart,
    joined,
    packed_matrix,
    ungated,
)
from intarsia.engine.families.masked_causal.backbone.lora_layers import LowRankLayer
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights

MatrixFormat: TypeAlias = Literal["plain", "packed"]


class MatrixOf(Protocol):
    """Brings a weight (out, in) and its bias (out,) into a format."""

    def __call__(self, weight: Tensor, bias: Tensor | None = None) -> Matrix: ...


_MATRIX_OF: Mapping[MatrixFormat, MatrixOf] = {
    "plain": Linear,
    "packed": packed_matrix,
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PassLayer:
    """One layer, the adapter's share of it within."""

    attn_norm: Tensor
    qkv: AdaptedLinear
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: AdaptedLinear
    mlp_norm: Tensor
    gate_up: AdaptedLinear
    down: AdaptedLinear


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PassWeights:
    """All layers, and both ends."""

    ends: Embeddings
    output: Matrix  # (vocab, hidden)
    norm: Tensor  # (hidden,)
    layers: tuple[PassLayer, ...]


def pass_weights(
    weights: BackboneWeights, adapter: GatedAdapter | None, matrices: MatrixFormat
) -> PassWeights:
    """Return the weights with their matrices in a format.

    But for plain ones, nothing of the given layers is held, so that a mapped file can go: the small
    tensors are copied, as a view of the file would hold all of it.
    """
    changes = adapter.layers if adapter else [None] * len(weights.layers)
    return PassWeights(
        ends=model_ends(weights, adapter),
        output=_MATRIX_OF[matrices](weights.output),
        norm=weights.norm.clone(),
        layers=tuple(
            _pass_layer(layer, change, matrices)
            for layer, change in zip(weights.layers, changes, strict=True)
        ),
    )


def _pass_layer(
    layer: LayerWeights, change: LowRankLayer | None, matrices: MatrixFormat
) -> PassLayer:
    return PassLayer(
        attn_norm=layer.attn_norm.clone(),
        qkv=_gated(layer.qkv, layer.qkv_bias, change.qkv if change else None, matrices),
        q_norm=_copied(layer.q_norm),
        k_norm=_copied(layer.k_norm),
        o=_gated(layer.o, None, change.o if change else None, matrices),
        mlp_norm=layer.mlp_norm.clone(),
        gate_up=_gated(layer.gate_up, None, change.gate_up if change else None, matrices),
        down=_gated(layer.down, None, change.down if change else None, matrices),
    )


def _gated(
    weight: Tensor, bias: Tensor | None, change: LowRank | None, matrices: MatrixFormat
) -> AdaptedLinear:
    matrix_of = _MATRIX_OF[matrices]
    if change is None:
        return ungated(matrix_of(weight, _copied(bias)), len(weight))
    if matrices == "plain":
        return apart(matrix_of(weight, bias), change)
    return joined(weight, bias, change, matrix_of=matrix_of, up_of=packed_matrix)


def _copied(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()
