"""Tunings: low-rank changes that become part of the weights, at load or conversion."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from intarsia.engine.arrays import Array, floats, namespace, rounded_like
from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE, LowRank, misfit, read_tensors
from intarsia.engine.families.masked_causal.backbone.shape import (
    BackboneShape,
    JoinedMatrix,
    PartName,
    read_shape,
)
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.model_store.gguf.convert import ChangeRows, Rows

LowRankLayer: TypeAlias = Mapping[PartName, LowRank]
"""The four pairs of one layer, for the same fused matrices as the backbone's."""

NAMES_IN_FILE: Mapping[PartName, str] = {"qkv": "qkv", "o": "o", "gate_up": "gu", "down": "d"}


def low_rank_layers(
    tensors: Mapping[str, Array], shape: BackboneShape, name: str
) -> tuple[LowRankLayer, ...]:
    """Return the pairs of all layers from tensors of the file ``name``. Raises ModelError."""

    def pair(part: str, layer: int, matrix: JoinedMatrix) -> LowRank:
        try:
            down, up = tensors[f"A.{part}{layer}"], tensors[f"B.{part}{layer}"]
        except KeyError as error:
            raise ModelError(
                f"the tuning {name} lacks the tensor {error}: it is of another backbone"
            ) from error
        if problem := misfit(down, up, matrix.num_in, matrix.num_out):
            raise ModelError(
                f"the tuning {name} is of another backbone: {part} of layer {layer} {problem}"
            )
        return LowRank(down=down, up=up * SCALE)

    return tuple(
        {part: pair(NAMES_IN_FILE[part], i, matrix) for part, matrix in shape.matrices().items()}
        for i in range(shape.num_layers)
    )


def tune(weights: BackboneWeights, shape: BackboneShape, path: Path) -> BackboneWeights:
    """Return the weights with a tuning's changes. Raises ModelError if it does not fit."""
    tensors = read_tensors(path)
    changes = low_rank_layers(tensors, shape, path.name)
    layers = map(_tuned, weights.layers, changes)
    return replace(weights, layers=tuple(layers))


def rows_tuned_by(path: Path, config: Mapping[str, Any]) -> ChangeRows:
    """Return what tunes a model's rows while it is converted. Raises ModelError for a misfit."""
    tensors = read_tensors(path)
    changes = {
        f"layers.{i}.{part}": pair
        for i, layer in enumerate(low_rank_layers(tensors, read_shape(config), path.name))
        for part, pair in layer.items()
    }

    def change(tensor: str, first_row: int, rows: Rows) -> Rows:
        pair = changes.get(tensor)
        if pair is None:
            return rows
        up = pair.up[first_row : first_row + len(rows)]
        changed: Rows = rows + up @ pair.down
        return changed

    return change


def _tuned(layer: LayerWeights, change: LowRankLayer) -> LayerWeights:
    def changed(weight: Array, pair: LowRank) -> Array:
        xp = namespace(weight)
        up, down = (xp.asarray(half, device=weight.device) for half in (pair.up, pair.down))
        return rounded_like(floats(weight) + up @ down, weight)

    return replace(layer, **{name: changed(getattr(layer, name), change[name]) for name in change})
