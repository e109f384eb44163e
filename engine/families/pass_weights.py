"""A backbone's weights as its passes multiply by them: tensors come in, matrices go out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, TypeAlias

from torch import Tensor

from intarsia.engine.families.backbone_weights import BackboneWeights, LayerWeights
from intarsia.engine.families.gated_adapter import GatedAdapter, SerialHead
from intarsia.engine.families.gated_matrix import GatedMatrix, apart, joined, ungated
from intarsia.engine.families.low_rank import LowRank, LowRankLayer
from intarsia.engine.families.matrix import (
    Matrix,
    PlainMatrix,
    int8_matrix,
    packed_matrix,
    packs,
)

MatrixFormat: TypeAlias = Literal["plain", "packed", "int8"]


class MatrixOf(Protocol):
    """Brings a weight (out, in) and its bias (out,) into a format."""

    def __call__(self, weight: Tensor, bias: Tensor | None = None) -> Matrix: ...


_MATRIX_OF: Mapping[MatrixFormat, MatrixOf] = {
    "plain": PlainMatrix,
    "packed": packed_matrix,
    "int8": int8_matrix,
}

# What comes into qkv and down has outliers: most of what int8 changes, it would change there
# (docs/performance.md).
_FINE_MATRIX_OF: Mapping[MatrixFormat, MatrixOf] = {
    **_MATRIX_OF,
    "int8": partial(int8_matrix, is_fine=True),
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PassLayer:
    """One layer, the adapter's share of it within."""

    attn_norm: Tensor
    qkv: GatedMatrix
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: GatedMatrix
    mlp_norm: Tensor
    gate_up: GatedMatrix
    down: GatedMatrix


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PassWeights:
    """``embed`` and ``output_rows`` are only looked up in, a few rows a pass: mapped, they take
    next to no memory."""

    embed: Tensor  # (vocab, hidden)
    output: Matrix  # (vocab, hidden)
    output_rows: Tensor  # the same, as it was
    norm: Tensor  # (hidden,)
    layers: tuple[PassLayer, ...]
    mask: Tensor | None  # (hidden,), added to a mask's embedding; None without an adapter
    head: SerialHead | None


def pass_weights(
    weights: BackboneWeights, adapter: GatedAdapter | None, matrices: MatrixFormat
) -> PassWeights:
    """Return the weights with their matrices in a format.

    But for plain ones, nothing of the given layers is held, so that a mapped file can go: the small
    tensors are copied, as a view of the file would hold all of it.
    """
    changes = adapter.layers if adapter else [None] * len(weights.layers)
    return PassWeights(
        embed=weights.embed,
        output=_MATRIX_OF[matrices](weights.output),
        output_rows=weights.output,
        norm=weights.norm.clone(),
        layers=tuple(
            _pass_layer(layer, change, matrices)
            for layer, change in zip(weights.layers, changes, strict=True)
        ),
        mask=_copied(adapter.mask) if adapter else None,
        head=adapter.head if adapter else None,
    )


def _pass_layer(
    layer: LayerWeights, change: LowRankLayer | None, matrices: MatrixFormat
) -> PassLayer:
    coarse = partial(_gated, matrices=matrices, matrix_of=_MATRIX_OF[matrices])
    fine = partial(_gated, matrices=matrices, matrix_of=_FINE_MATRIX_OF[matrices])
    return PassLayer(
        attn_norm=layer.attn_norm.clone(),
        qkv=fine(layer.qkv, layer.qkv_bias, change.qkv if change else None),
        q_norm=_copied(layer.q_norm),
        k_norm=_copied(layer.k_norm),
        o=coarse(layer.o, None, change.o if change else None),
        mlp_norm=layer.mlp_norm.clone(),
        gate_up=coarse(layer.gate_up, None, change.gate_up if change else None),
        down=fine(layer.down, None, change.down if change else None),
    )


def _gated(
    weight: Tensor,
    bias: Tensor | None,
    change: LowRank | None,
    *,
    matrices: MatrixFormat,
    matrix_of: MatrixOf,
) -> GatedMatrix:
    if change is None:
        return ungated(matrix_of(weight, _copied(bias)), len(weight))
    if matrices == "plain":
        return apart(matrix_of(weight, bias), change)
    up_of = packed_matrix if packs(weight.dtype) else PlainMatrix
    return joined(weight, bias, change, matrix_of=matrix_of, up_of=up_of)


def _copied(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()
