"""A backbone's weights as its passes multiply by them: tensors come in, matrices go out."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from torch import Tensor

from intarsia.engine.families.backbone_weights import BackboneWeights, LayerWeights
from intarsia.engine.families.matrix import Matrix, PlainMatrix, int8_matrix

PassWeights: TypeAlias = BackboneWeights[Matrix]
_MatrixOf: TypeAlias = Callable[[Tensor], Matrix]


def plain_weights(weights: BackboneWeights[Tensor]) -> PassWeights:
    """Return the weights with matrices as they are."""
    return _with_matrices(weights, PlainMatrix, PlainMatrix)


def int8_weights(weights: BackboneWeights[Tensor]) -> PassWeights:
    """Return the weights with matrices in int8. Nothing of the given ones is held, so that a mapped
    file can go."""
    # What comes into qkv and down has outliers: most of what int8 changes, it would change there
    # (docs/performance.md).
    return _with_matrices(weights, int8_matrix, partial(int8_matrix, is_fine=True))


def _with_matrices(
    weights: BackboneWeights[Tensor], matrix_of: _MatrixOf, fine_matrix_of: _MatrixOf
) -> PassWeights:
    """The small tensors are copied, as a view of a mapped file would hold all of it."""
    embed = matrix_of(weights.embed)

    def layer_of(layer: LayerWeights[Tensor]) -> LayerWeights[Matrix]:
        return LayerWeights(
            attn_norm=layer.attn_norm.clone(),
            qkv=fine_matrix_of(layer.qkv),
            qkv_bias=_copied(layer.qkv_bias),
            q_norm=_copied(layer.q_norm),
            k_norm=_copied(layer.k_norm),
            o=matrix_of(layer.o),
            mlp_norm=layer.mlp_norm.clone(),
            gate_up=matrix_of(layer.gate_up),
            down=fine_matrix_of(layer.down),
        )

    return BackboneWeights(
        embed=embed,
        output=embed if weights.output is weights.embed else matrix_of(weights.output),
        norm=weights.norm.clone(),
        layers=tuple(map(layer_of, weights.layers)),
    )


def _copied(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.clone()
