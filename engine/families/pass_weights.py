"""A backbone's weights as its passes multiply by them: tensors come in, matrices go out."""

from typing import TypeAlias

from torch import Tensor

from intarsia.engine.families.backbone_weights import BackboneWeights, LayerWeights
from intarsia.engine.families.matrix import Matrix, PlainMatrix, int8_matrix

PassWeights: TypeAlias = BackboneWeights[Matrix]


def plain_weights(weights: BackboneWeights[Tensor]) -> PassWeights:
    """Return the weights with matrices as they are."""
    embed: Matrix = PlainMatrix(weights.embed)
    return BackboneWeights(
        embed=embed,
        output=embed if weights.output is weights.embed else PlainMatrix(weights.output),
        norm=weights.norm,
        layers=tuple(_plain_layer(layer) for layer in weights.layers),
    )


def int8_weights(weights: BackboneWeights[Tensor]) -> PassWeights:
    """Return the weights with matrices in int8. Nothing of the given ones is held, so that a mapped
    file can go."""
    embed: Matrix = int8_matrix(weights.embed)
    return BackboneWeights(
        embed=embed,
        output=embed if weights.output is weights.embed else int8_matrix(weights.output),
        norm=weights.norm.clone(),
        layers=tuple(_int8_layer(layer) for layer in weights.layers),
    )


def _plain_layer(layer: LayerWeights[Tensor]) -> LayerWeights[Matrix]:
    return LayerWeights(
        attn_norm=layer.attn_norm,
        qkv=PlainMatrix(layer.qkv),
        qkv_bias=layer.qkv_bias,
        q_norm=layer.q_norm,
        k_norm=layer.k_norm,
        o=PlainMatrix(layer.o),
        mlp_norm=layer.mlp_norm,
        gate_up=PlainMatrix(layer.gate_up),
        down=PlainMatrix(layer.down),
    )


def _int8_layer(layer: LayerWeights[Tensor]) -> LayerWeights[Matrix]:
    """What comes into qkv and down has outliers: most of what int8 changes, it would change there
    (docs/performance.md)."""
    return LayerWeights(
        attn_norm=layer.attn_norm.clone(),
        qkv=int8_matrix(layer.qkv, is_fine=True),
        qkv_bias=_copied(layer.qkv_bias),
        q_norm=_copied(layer.q_norm),
        k_norm=_copied(layer.k_norm),
        o=int8_matrix(layer.o),
        mlp_norm=layer.mlp_norm.clone(),
        gate_up=int8_matrix(layer.gate_up),
        down=int8_matrix(layer.down, is_fine=True),
    )


def _copied(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()
