"""Apply a tuning to a backbone: add its low-rank changes to the weights, at load or conversion.

A forward pass takes as long as before, because the changes become part of the weights.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from intarsia.engine.families.lora import LowRank, read_tensors
from intarsia.engine.families.masked_causal.backbone.adapter import (
    LowRankLayer,
    low_rank_layers,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.model_store.gguf.convert import ChangeRows, Rows


def tune(weights: BackboneWeights, shape: BackboneShape, path: Path) -> BackboneWeights:
    """Return the weights with a tuning's changes. Raises ModelError if it does not fit."""
    tensors = read_tensors(path, dtype=torch.float32, device=weights.embed.device)
    changes = low_rank_layers(tensors, shape, path.name)
    layers = map(_tuned, weights.layers, changes)
    return replace(weights, layers=tuple(layers))


def rows_tuned_by(path: Path, config: Mapping[str, Any]) -> ChangeRows:
    """Return a function that applies a tuning to a model's rows while the model is converted.

    Raises ModelError if the tuning does not fit.
    """
    tensors = read_tensors(path, dtype=torch.float32, device=torch.device("cpu"))
    changes = {
        f"layers.{i}.{part}": pair
        for i, layer in enumerate(low_rank_layers(tensors, read_shape(config), path.name))
        for part, pair in layer.parts().items()
    }

    def change(tensor: str, first_row: int, rows: Rows) -> Rows:
        pair = changes.get(tensor)
        if pair is None:
            return rows
        up = pair.up[first_row : first_row + len(rows)]
        changed: Rows = torch.addmm(torch.from_numpy(rows.copy()), up, pair.down).numpy()
        return changed

    return change


def _tuned(layer: LayerWeights, change: LowRankLayer) -> LayerWeights:
    parts = change.parts()
    return replace(layer, **{name: _changed(getattr(layer, name), parts[name]) for name in parts})


def _changed(weight: Tensor, change: LowRank) -> Tensor:
    return torch.addmm(weight.float(), change.up, change.down).to(weight.dtype)
