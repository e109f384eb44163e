"""A backbone's weights as torch multiplies by them: plain or packed, the adapter included."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import Adapters
from intarsia.engine.families.masked_causal.backbone.adapter_kind import AdapterKind
from intarsia.engine.families.masked_causal.backbone.embeddings import Embeddings, embeddings_of
from intarsia.engine.families.masked_causal.backbone.linear import (
    Linear,
    Matrix,
    RowLinear,
    UnadaptedLinear,
    fused,
    pack,
    side_by_side,
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
    has_edit_adapter: bool


def torch_weights(
    weights: BackboneWeights, adapters: Adapters, format_: MatrixFormat
) -> TorchWeights:
    """Return the weights with their matrices in a format.

    Packed layers refer to nothing of the given ones, so that a mapped file can be released. The
    small tensors are copied for that too: a view of the file would hold all of it.
    """
    return TorchWeights(
        embeddings=embeddings_of(weights, adapters.draft),
        output=_MATRIX_OF[format_](weights.output),
        norm=weights.norm.clone(),
        layers=tuple(
            _torch_layer(layer, adapters.layer(number), format_)
            for number, layer in enumerate(weights.layers)
        ),
        has_edit_adapter=adapters.edit is not None,
    )


def _torch_layer(
    layer: LayerWeights, changes: Mapping[AdapterKind, LowRankLayer], format_: MatrixFormat
) -> TorchLayer:
    def of(part: PartName) -> Mapping[AdapterKind, LowRank]:
        return {kind: change.parts()[part] for kind, change in changes.items()}

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
    changes: Mapping[AdapterKind, LowRank],
    format_: MatrixFormat,
) -> RowLinear:
    matrix_of = _MATRIX_OF[format_]
    if not changes:
        return UnadaptedLinear(matrix_of(weight, _copy(bias)))
    if format_ == "plain":
        return side_by_side(matrix_of(weight, bias), changes)
    return fused(weight, bias, changes, matrix_of=matrix_of)


def _copy(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()
