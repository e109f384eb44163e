"""A backbone's weights as torch multiplies by them: plain or packed, the adapter included."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter
from intarsia.engine.families.masked_causal.backbone.embeddings import Embeddings, embeddings_of
from intarsia.engine.families.masked_causal.backbone.linear import (
    AdaptedLinear,
    Linear,
    Matrix,
    RowLinear,
    UnadaptedLinear,
    fused,
    pack,
)
from intarsia.engine.families.masked_causal.backbone.lora_layers import LowRankLayer, PartName
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights

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
        return None if change is None else change.parts()[part]

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
    return fused(weight, bias, change, matrix_of=matrix_of)


def _copy(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()
